-- Bob has no order, but NOT IN with a NULL in its list is never true.
create table customer(id integer primary key, name text);
create table purchase(customer integer);
insert into customer values (1, 'Ann'), (2, 'Bob');
insert into purchase values (1), (null);
select 'without purchase', count(*) from customer
where id not in (select customer from purchase);
