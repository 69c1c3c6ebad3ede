! Stock keeping.
module stock
  implicit none
  integer, parameter :: limit = 100

  type, extends(thing) :: item
     character(len=20) :: name
   contains
     procedure :: total => item_total
  end type item

  interface twice
     module procedure twice_int
  end interface

contains

  ! Price with tax.
  pure function with_tax(price, rate) result(res)
    real, intent(in) :: price, rate
    real :: res
    res = price * (1 + rate)
  end function with_tax

  subroutine reset(s)
    type(item), intent(inout) :: s
  end subroutine reset
end module stock

program main
  use stock
  print *, 'x'
end program main

integer function old(a)
  integer a
  old = a
end function
