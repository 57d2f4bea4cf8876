// These rules say which groups of ops become one loop function. `plan-fusion` tries them in this order, each over all
// groups, producers first. Nothing is ever merged into a contraction or a window, which would compute it again for every
// term.

pattern.group_rule "fuse-elementwise-epilogue" doc "a map of the result of a contraction, a window, or a reduction with more after it joins the function of that result" {
  %producer = pattern.group "out-fusable"
  %between = pattern.group "elementwise | broadcast"
  %consumer = pattern.group "elementwise | broadcast"
  pattern.require_groups "post-dominated"(%producer, %consumer, %between) remark "{name} has {users} users outside the group"
  pattern.require_groups "in-place"(%producer, %consumer) remark "{consumer} stretches or moves the elements of {name}"
  pattern.merge_groups %producer into %consumer
}

pattern.group_rule "fuse-reduction-with-elementwise-epilogue" doc "a map of the result of a reduction, or of the rows that it reduced, joins the function of the reduction" {
  %producer = pattern.group "reduction | out-fusable"
  %between = pattern.group "elementwise | broadcast"
  %consumer = pattern.group "elementwise | broadcast"
  pattern.require_groups "post-dominated"(%producer, %consumer, %between) remark "{name} has {users} users outside the group"
  pattern.require_groups "same-rows"(%producer, %between, %consumer) remark "{consumer} does not go over the rows that {name} reduces"
  pattern.merge_groups %producer into %consumer
}

pattern.group_rule "fuse-elementwise-into-elementwise" doc "a map of a map is one loop with it" {
  %producer = pattern.group "elementwise | broadcast"
  %between = pattern.group "elementwise | broadcast | injective"
  %consumer = pattern.group "elementwise | broadcast"
  pattern.require_groups "post-dominated"(%producer, %consumer, %between) remark "{name} has {users} users outside the group"
  pattern.merge_groups %producer into %consumer
}

pattern.group_rule "fuse-into-injective" doc "an op that moves elements computes them where it reads them" {
  %producer = pattern.group "elementwise | broadcast | injective"
  %between = pattern.group "elementwise | broadcast | injective"
  %consumer = pattern.group "injective"
  pattern.require_groups "post-dominated"(%producer, %consumer, %between) remark "{name} has {users} users outside the group"
  pattern.merge_groups %producer into %consumer
}

pattern.group_rule "fuse-injective-into-elementwise" doc "a map reads moved elements where they come from" {
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

pattern.group_rule "fuse-reductions-of-the-same-rows" doc "reductions over the same rows, and the maps between them, are one function, as in a softmax in elementary ops" {
  %producer = pattern.group "reduction | out-fusable"
  %between = pattern.group "elementwise | broadcast | reduction | out-fusable"
  %consumer = pattern.group "reduction | out-fusable"
  pattern.require_groups "post-dominated"(%producer, %consumer, %between) remark "{name} has {users} users outside the group"
  pattern.require_groups "same-rows"(%producer, %between, %consumer) remark "{consumer} does not go over the rows that {name} reduces"
  pattern.merge_groups %producer into %consumer
}
