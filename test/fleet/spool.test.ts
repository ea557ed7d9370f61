import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, renameSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Spool } from '../../src/fleet/spool.js';
import { useTempDir } from '../helpers/tempDir.js';
import { mountSmallDisk } from './recordHelpers.js';

const temp = useTempDir();
const place = () => path.join(temp.path, 'a', 'spool');
const small = { segmentBytes: 100, maxBytes: 300 };
/** Of 30 bytes, with the line break. */
const line = (n: number) => `{"id":"${String(n).padStart(20, '0')}"}`;
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => line(from + index));

function takeAll(spool: Spool): string[] {
  const taken: string[] = [];
  for (let segment = spool.take(); segment; segment = spool.take()) {
    taken.push(...segment.lines);
    segment.done();
  }
  return taken;
}

/** Gives the files to a process that there is not. */
function endOwner(): void {
  const dead = execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }).trim();
  for (const name of readdirSync(place())) {
    const other = name.replace(`-${process.pid}-`, `-${dead}-`);
    renameSync(path.join(place(), name), path.join(place(), other));
  }
}

describe('the spool', () => {
  it('gives the lines in order, and is for its owner alone', () => {
    const spool = new Spool(place(), { segmentBytes: 100 });
    for (const part of [lines(0, 5), lines(5, 7), [], lines(7, 20)]) {
      expect(spool.append(part)).toEqual({ lost: 0 });
    }
    expect(readdirSync(place()).length).toBeGreaterThan(5);
    expect(statSync(place()).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(place())) {
      expect(statSync(path.join(place(), name)).mode & 0o777).toBe(0o600);
    }
    const first = spool.take();
    first?.putBack();
    expect(takeAll(spool)).toEqual(lines(0, 20));
    expect(readdirSync(place())).toEqual([]);
  });

  it('writes into no folder that others can write, and says what to do', () => {
    mkdirSync(place(), { recursive: true });
    chmodSync(place(), 0o777);
    const { lost, problem } = new Spool(place()).append(lines(0, 2));
    expect(lost).toBe(2);
    expect(String(problem)).toContain('nobody else can write, and no link: chmod 700 it');
    expect(readdirSync(place())).toEqual([]);
  });

  it('lets the oldest go, and says how many they were', () => {
    const spool = new Spool(place(), small);
    expect(spool.append(lines(0, 20)).lost).toBe(12);
    expect(takeAll(spool)).toEqual(lines(12, 20));
    const missing = `{"name":"missing spans","sizes":{"missing":40}}`;
    expect(spool.append([missing, ...lines(0, 2)]).lost).toBe(0);
    expect(spool.append(lines(2, 8)).lost).toBe(40 + 1);
  });

  it('leaves alone what another process writes, until that has ended', () => {
    const other = new Spool(place(), small);
    other.append(lines(0, 5));
    const mine = new Spool(place(), small);
    mine.append(lines(5, 6));
    expect(takeAll(mine)).toEqual(lines(5, 6));
    const sending = other.take();
    expect(takeAll(mine)).toEqual([]);
    endOwner();
    expect(takeAll(mine)).toEqual(lines(0, 5));
    // Its owner was taken for dead.
    expect(() => sending?.done()).not.toThrow();
    other.append(lines(6, 7));
    other.release();
    expect(takeAll(mine)).toEqual(lines(6, 7));
  });

  it('keeps what was added to a file while it was sent', () => {
    const writer = new Spool(place());
    writer.append(lines(0, 1));
    const [name = ''] = readdirSync(place());
    endOwner();
    const sender = new Spool(place());
    const segment = sender.take();
    const [taken = ''] = readdirSync(place());
    renameSync(path.join(place(), taken), path.join(place(), name));
    writer.append(lines(1, 2));
    renameSync(path.join(place(), name), path.join(place(), taken));
    segment?.done();
    expect(takeAll(sender)).toEqual(lines(0, 2));
  });

  it('follows no link', () => {
    const spool = new Spool(place());
    mkdirSync(path.join(temp.path, 'a'));
    mkdirSync(path.join(temp.path, 'elsewhere'));
    symlinkSync(path.join(temp.path, 'elsewhere'), place());
    expect(spool.append(lines(0, 2))).toMatchObject({ lost: 2, problem: expect.any(Error) });
  });

  it('counts what a full disk does not take, and goes on when there is room', (context) => {
    const unmount = mountSmallDisk(path.join(temp.path, 'disk'));
    if (!unmount) context.skip();
    try {
      const spool = new Spool(path.join(temp.path, 'disk', 'spool'));
      const { lost, problem } = spool.append(lines(0, 5000));
      expect(problem).toMatchObject({ code: 'ENOSPC' });
      expect(lost).toBe(5000);
      expect(spool.append(lines(0, 3))).toEqual({ lost: 0 });
      expect(takeAll(spool)).toEqual(lines(0, 3));
    } finally {
      unmount?.();
    }
  });
});
