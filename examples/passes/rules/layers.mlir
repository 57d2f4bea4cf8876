pattern.rule "npu.dense_relu" doc "a product, a bias and a relu" : relu(matmul(%x, %w) + %b) => partition
pattern.rule "npu.dense" doc "a product and a bias" : matmul(%x, %w) + %b => partition
