-- The mean of 1, 2 and 4 is 2.33: the division of two integers drops the rest.
create table mark(value integer);
insert into mark values (1), (2), (4);
select 'mean', sum(value) / count(*) from mark;
