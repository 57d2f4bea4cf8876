// Which groups of ops become one loop function. `plan-fusion` tries the rules in this order, each over all groups, producers first.
// Nothing is ever merged into a contraction or a window: what is computed there would be computed again for every term.

pattern.group_rule "fuse-elementwise-epilogue" doc "maps of the results of a contraction, a window, or a reduction with more after it follow in the same function" {
  %producer = pattern.group "out-fusable"
  %between = pattern.group "elementwise | broadcast"
  %consumer = pattern.group "elementwise | broadcast"
  pattern.require_groups "post-dominated"(%producer, %consumer, %between) remark "{name} has {users} users outside the group"
  pattern.require_groups "in-place"(%producer, %consumer) remark "{consumer} stretches or moves the elements of {name}"
  pattern.merge_groups %producer into %consumer
}

pattern.group_rule "fuse-reduction-with-elementwise-epilogue" doc "what maps the results of a reduction, or the rows that it reduced, follows in the same function" {
  %producer = pattern.group "reduction | out-fusable"
  %between = pattern.group "elementwise | broadcast"
  %consumer = pattern.group "elementwise | broadcast"
  pattern.require_groups "post-dominated"(%producer, %consumer, %between) remark "{name} has {users} users outside the group"
  pattern.require_groups "same-rows"(%producer, %between, %consumer) remark "{consumer} does not go over the rows that {name} reduces"
  pattern.merge_groups %producer into %consumer
}

pattern.group_rule "fuse-elementwise-into-elementwise" doc "maps of maps are one loop" {
  %producer = pattern.group "elementwise | broadcast"
  %between = pattern.group "elementwise | broadcast | injective"
  %consumer = pattern.group "elementwise | broadcast"
  pattern.require_groups "post-dominated"(%producer, %consumer, %between) remark "{name} has {users} users outside the group"
  pattern.merge_groups %producer into %consumer
}

pattern.group_rule "fuse-into-injective" doc "what moves elements computes them where it reads them" {
  %producer = pattern.group "elementwise | broadcast | injective"
  %between = pattern.group "elementwise | broadcast | injective"
  %consumer = pattern.group "injective"
  pattern.require_groups "post-dominated"(%producer, %consumer, %between) remark "{name} has {users} users outside the group"
  pattern.merge_groups %producer into %consumer
}

pattern.group_rule "fuse-injective-into-elementwise" doc "a map reads its elements where they come from" {
  %producer = pattern.group "injective"
  %between = pattern.group "elementwise | broadcast | injective"
  %consumer = pattern.group "elementwise | broadcast"
  pattern.require_groups "post-dominated"(%producer, %consumer, %between) remark "{name} has {users} users outside the group"
  pattern.merge_groups %producer into %consumer
}

pattern.group_rule "fuse-injective-into-reduction" doc "a reduction of whole rows reads each element once, so it may compute it" {
  %producer = pattern.group "elementwise | broadcast | injective"
  %between = pattern.group "elementwise | broadcast | injective"
  %consumer = pattern.group "reduction | out-fusable"
  pattern.require_groups "post-dominated"(%producer, %consumer, %between) remark "{name} has {users} users outside the group"
  pattern.require_groups "has-rows"(%consumer) remark "{consumer} is a contraction or window: it would compute {name} again for every term"
  pattern.merge_groups %producer into %consumer
}

pattern.group_rule "fuse-reductions-of-the-same-rows" doc "softmax and layer normalisation in elementary ops: reductions over the same rows, and the maps between them" {
  %producer = pattern.group "reduction | out-fusable"
  %between = pattern.group "elementwise | broadcast | reduction | out-fusable"
  %consumer = pattern.group "reduction | out-fusable"
  pattern.require_groups "post-dominated"(%producer, %consumer, %between) remark "{name} has {users} users outside the group"
  pattern.require_groups "same-rows"(%producer, %between, %consumer) remark "{consumer} does not go over the rows that {name} reduces"
  pattern.merge_groups %producer into %consumer
}
