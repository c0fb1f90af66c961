module otherengine

go 1.26.0

require relay v0.0.0

replace relay => ../../../../..
