pattern.rule "mul-of-two-negatives" : quaternion.mul(-%a, -%b) => quaternion.mul(%a, %b)

pattern.rule "mul-of-negative" rounding : quaternion.mul(-%a, %b) => -quaternion.mul(%a, %b)
