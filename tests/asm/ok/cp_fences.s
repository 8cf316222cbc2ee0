# Fences name what is ordered.
        .core   cp
        fence
        fence   rw, rw
        fence   iorw, iorw
        fence   r, w
#! bytes .text.cp 0f00f00f 0f003003 0f00f00f 0f001002
