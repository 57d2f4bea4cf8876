// These rules say which groups of ops become one loop function. `plan-fusion` tries them in this order, each over all
// groups, producers first. Nothing is ever merged into a contraction or a window, which would compute it again for every
// term.

pattern.group_rule "fuse-elementwise-epilogue" doc "a map of the result of a contraction, a window, or a reduction with more after it joins the function of that result"
  : out-fusable %producer into [elementwise, broadcast] %consumer through [elementwise, broadcast] %between
  where post-dominated(%producer, %consumer, %between) remark "{name} has {users} users outside the group",
    in-place(%producer, %consumer) remark "{consumer} stretches or moves the elements of {name}",
    no-floats-for-later(%producer, %consumer) remark "{consumer} joins what reads it, so that {name} is stored as integers"

pattern.group_rule "fuse-reduction-with-elementwise-epilogue" doc "a map of the result of a reduction, or of the rows that it reduced, joins the function of the reduction"
  : [reduction, out-fusable] %producer into [elementwise, broadcast] %consumer through [elementwise, broadcast] %between
  where post-dominated(%producer, %consumer, %between) remark "{name} has {users} users outside the group",
    same-rows(%producer, %between, %consumer) remark "{consumer} does not go over the rows that {name} reduces"

pattern.group_rule "fuse-elementwise-into-elementwise" doc "a map of a map is one loop with it" :
  [elementwise, broadcast] %producer into [elementwise, broadcast] %consumer
    through [elementwise, broadcast, injective] %between
  where post-dominated(%producer, %consumer, %between) remark "{name} has {users} users outside the group"

pattern.group_rule "fuse-into-injective" doc "an op that moves elements computes them where it reads them" :
  [elementwise, broadcast, injective] %producer into injective %consumer
    through [elementwise, broadcast, injective] %between
  where post-dominated(%producer, %consumer, %between) remark "{name} has {users} users outside the group",
    no-transpose-of-rows(%producer, %consumer) remark "{consumer} transposes whole rows that {name} has moved, which it reads faster from memory",
    no-repeat-of-short-rows(%producer, %consumer) remark "{consumer} repeats short rows that {name} has repeated, which it reads faster from memory as long ones"

pattern.group_rule "fuse-injective-into-elementwise" doc "a map reads moved elements where they come from" :
  injective %producer into [elementwise, broadcast] %consumer through [elementwise, broadcast, injective] %between
  where post-dominated(%producer, %consumer, %between) remark "{name} has {users} users outside the group",
    no-repeat-of-short-rows(%producer, %consumer) remark "{consumer} repeats short rows that {name} has repeated, which it reads faster from memory as long ones"

pattern.group_rule "fuse-injective-into-reduction" doc "a reduction of whole rows reads each element once, so it may compute it"
  : [elementwise, broadcast, injective] %producer into [reduction, out-fusable] %consumer
    through [elementwise, broadcast, injective] %between
  where post-dominated(%producer, %consumer, %between) remark "{name} has {users} users outside the group",
    has-rows(%consumer) remark "{consumer} is a contraction or window: it would compute {name} again for every term"

pattern.group_rule "fuse-elementwise-into-epilogue" doc "a map whose result meets that of a contraction, a window or a reduction in a map joins them"
  : [elementwise, broadcast] %producer into out-fusable %consumer
  where post-dominated(%producer, %consumer) remark "{name} has {users} users outside the group",
    in-place(%producer, %consumer) remark "{consumer} stretches or moves the elements of {name}"

pattern.group_rule "fuse-reductions-of-the-same-rows" doc "reductions over the same rows, and the maps between them, are one function, as in a softmax in elementary ops"
  : [reduction, out-fusable] %producer into [reduction, out-fusable] %consumer
    through [elementwise, broadcast, reduction, out-fusable] %between
  where post-dominated(%producer, %consumer, %between) remark "{name} has {users} users outside the group",
    same-rows(%producer, %between, %consumer) remark "{consumer} does not go over the rows that {name} reduces"

pattern.group_rule "fuse-rows-into-product" doc "a softmax of the rows of a product, whose result is the left operand of another one, as in attention, joins that one, with further reductions of these rows"
  : [reduction, out-fusable] %producer into out-fusable %consumer through [reduction, out-fusable] %between
  where post-dominated(%producer, %consumer, %between) remark "{name} has {users} users outside the group",
    rows-between-products(%producer, %between, %consumer) remark "{consumer} is a contraction or window: it would compute {name} again for every term"

pattern.group_rule "fuse-product-into-its-rows" doc "the product whose rows are reduced before another product joins both, so that a few rows at a time go through all"
  : out-fusable %producer into out-fusable %consumer
  where post-dominated(%producer, %consumer) remark "{name} has {users} users outside the group",
    product-of-rows(%producer, %consumer) remark "{consumer} is no softmax of the rows of {name} before another product"

pattern.group_rule "fuse-moves-into-rows-of-products" doc "an op that moves elements of an operand of attention joins it, where the operand is laid out anyway"
  : injective %producer into out-fusable %consumer
  where post-dominated(%producer, %consumer) remark "{name} has {users} users outside the group",
    around-rows-of-products(%producer, %consumer) remark "{consumer} is a contraction or window: it would compute {name} again for every term"

pattern.group_rule "fuse-rows-of-products-into-moves" doc "an op that moves elements of the result of attention joins it, where tiles are stored to their places"
  : out-fusable %producer into injective %consumer
  where post-dominated(%producer, %consumer) remark "{name} has {users} users outside the group",
    around-rows-of-products(%producer, %consumer) remark "{consumer} moves elements of {name}, which is computed as a whole"

pattern.group_rule "fuse-sibling-reductions" doc "reductions of the same rows of one tensor, none of which needs another, are one function with a result each"
  : [reduction, out-fusable] %producer into [reduction, out-fusable] %consumer
  where siblings(%producer, %consumer), same-rows(%producer, %consumer)

pattern.group_rule "fuse-injective-into-siblings" doc "what only sibling reductions read is computed in their function"
  : [elementwise, broadcast, injective] %producer into out-fusable %consumer
  where users-inside(%producer, %consumer), has-rows(%consumer)
