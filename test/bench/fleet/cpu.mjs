import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/**
 * @param {readonly number[]} pids
 * @returns {number} ms of processor that these processes have taken so far
 */
export function readCpu(pids) {
  // In `/proc/[pid]/stat`, after the name, which may hold anything: state, …, utime, stime.
  const ticks = pids.map((pid) => fieldsOf(pid).slice(11, 13).map(Number));
  return (ticks.flat().reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND) * 1000;
}

/**
 * @param {number} pid
 * @returns {number} the same of a process and all that it has started, also of what has ended
 */
export function readTreeCpu(pid) {
  const ended = fieldsOf(pid).slice(13, 15).map(Number);
  const ticks = ended.reduce((sum, each) => sum + each, 0);
  return readCpu([pid, ...listDescendants(pid)]) + (ticks / TICKS_PER_SECOND) * 1000;
}

/**
 * @param {number} pid
 * @returns {number} MiB that are resident
 */
export function readMemory(pid) {
  const [, kibibytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(kibibytes) / 1024;
}

/**
 * @param {number} pid
 * @returns {number[]} what this process has started, and what that has started
 */
export function listDescendants(pid) {
  const parents = new Map(listPids().map((each) => [each, Number(fieldsOf(each)[1])]));
  const found = [pid];
  for (const parent of found) {
    for (const [child, its] of parents) if (its === parent) found.push(child);
  }
  return found.slice(1);
}

function listPids() {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0);
}

function fieldsOf(pid) {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return line.slice(line.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
