import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { isInside, unlessItFails } from '../util/paths.js';

// Synchronous, since looking takes less time than waiting for it.

/** Of a link itself; `undefined` where there is nothing, or it cannot be looked at. */
export function linkStatsOf(path: string): Stats | undefined {
  return unlessItFails(() => lstatSync(path, { throwIfNoEntry: false }));
}

/** A path as it stands in lists and messages: relative to the project where it is in it. */
export function shownPath(path: string, project: string): string {
  const shown = isInside(path, project) ? relative(project, path) || '.' : path;
  return shown.replaceAll(sep, '/');
}

/** At most this many links on the way of one path, as in the system itself. */
const MAX_LINKS = 40;

/** Whether a path, or a link on its way, leads through `/proc` or `/dev`, which mean something else to each process. */
export function leadsThroughSystem(path: string): boolean {
  let rest = path.split('/');
  let current = '/';
  for (let links = 0; rest.length > 0 && links <= MAX_LINKS;) {
    const [part = '', ...more] = rest;
    rest = more;
    const next = part === '..' ? dirname(current) : join(current, part);
    if (/^\/(?:proc|dev)(?:\/|$)/u.test(next)) return true;
    const target = unlessItFails(() => readlinkSync(next));
    if (target === undefined) current = next;
    else {
      links += 1;
      rest = [...target.split('/'), ...rest];
      if (isAbsolute(target)) current = '/';
    }
  }
  return rest.length > 0;
}
