# Directives begin with a dot; this one nobody has.
        .qqqqqq 1                         #! error 9-16: unknown directive '.qqqqqq'
        .core   cp
        .qqqqqq 1                         #! error 9-16: unknown directive '.qqqqqq'
