module work
  type container
    integer, allocatable :: list(:)
  end type
contains
  subroutine fill(v, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: v(:)
    integer :: local(n)
    integer :: i
    do i = 1, n
      v(i) = i * 2.0d0
      local(i) = i + 1
    end do
    v(1) = local(n)
  end subroutine
end module
program bounds
  use work
  integer, allocatable :: a(:), m(:,:)
  real(8), pointer :: p(:)
  real(8), target :: t(5)
  type(container) :: box
  allocate(a(-1:2), m(2,3), box%list(3))
  a(-1) = 7
  a(2) = a(-1) + 1
  m(2,3) = a(2)
  call fill(t, 5)
  p => t(1:5:3)
  p(2) = 3.5d0
  box%list(2) = 5
  print *, t(1), t(2), t(3), t(4), a(2), m(2,3), box%list(2)
end program
