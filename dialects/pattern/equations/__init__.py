"""Rules as equations, `pattern.rule "twice" : %x + %x => 2 * %x`, which are read into their normal form."""
