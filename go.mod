module infeed

go 1.26.0
