/** What the record says of a span, in the order in which it is shown. */
export const COLUMNS = [
  'time',
  'from',
  'agent',
  'session',
  'kind',
  'event',
  'tool',
  'call',
  'verdict',
  'shadow',
  'counted',
  'hook',
  'approver',
  'policy',
  'reason',
  'duration_ms',
  'id',
  'parent',
  'trace',
] as const;

/** A name of these, in rows and in queries. */
export type Column = (typeof COLUMNS)[number];
