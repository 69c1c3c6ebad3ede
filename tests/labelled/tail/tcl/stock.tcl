# Stock keeping.
package require Tcl 8.6

set limit 100

namespace eval shop {
    variable count 0
    # Adds one.
    proc add {item {n 1}} {
        variable count
        incr count $n
    }
}

proc shop::total {} { return $shop::count }
proc main args {
    puts [shop::total]
}
