library(testthat)
library(scmk)

test_check("scmk")
