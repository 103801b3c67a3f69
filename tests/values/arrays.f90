program arrays
  implicit none
  type point
    integer :: x, y
  end type
  integer :: a(5), b(-1:1), i, s
  real(8) :: m(2,3)
  type(point) :: p(2)
  do i = 1, 5
    a(i) = i * i
  end do
  b(0) = a(5)
  m(2,3) = 1.5d0
  p(2)%y = 7
  s = a(2) + b(0) + p(2)%y
  print *, s, m(2,3)
end program
