// Without their hosts, types of hosts are `any`, and the linter finds what is put together with them redundant: these say the same.
export type Either<A, B> = A | B;
export type Both<A, B> = A & B;
export type Maybe<T> = T | undefined;
