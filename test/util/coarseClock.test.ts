import { describe, expect, it, vi } from 'vitest';
import { Timed } from '../../src/util/coarseClock.js';

class Piece extends Timed {
  timesUp = 0;

  start(): this {
    this.startClock();
    return this;
  }

  stop(): void {
    this.stopClock();
  }

  /** Waits for somebody else, or goes on by itself. */
  set waiting(isWaiting: boolean) {
    this.counting = !isWaiting;
  }

  protected override onTimeUp(): void {
    this.timesUp += 1;
  }
}

function tick(piece: Piece, times: number): void {
  for (let count = 0; count < times; count++) piece.tick();
}

describe('the coarse clock', () => {
  it('is up once, after the time that was allowed', () => {
    const piece = new Piece(1_000).start();
    tick(piece, 4);
    expect(piece.timesUp).toBe(0);
    tick(piece, 1);
    expect(piece.timesUp).toBe(1);
  });

  it('counts only the time that a piece takes itself', () => {
    const piece = new Piece(500).start();
    tick(piece, 2);
    piece.waiting = true;
    tick(piece, 100);
    expect(piece.timesUp).toBe(0);
    piece.waiting = false;
    tick(piece, 1);
    expect(piece.timesUp).toBe(1);
    piece.stop();
  });

  it('ticks by itself, for each piece that runs and no other', async () => {
    const pieces = Array.from({ length: 5 }, () => new Piece(1).start());
    const [first, , third, , last] = pieces;
    for (const stopped of [first, third, last]) stopped?.stop();
    third?.stop();
    await vi.waitFor(() => expect(pieces.map(({ timesUp }) => timesUp)).toEqual([0, 1, 0, 1, 0]), {
      timeout: 5_000,
    });
  });

  it('can be started again by others after all have stopped', async () => {
    new Piece(1).start().stop();
    const later = new Piece(1).start();
    await vi.waitFor(() => expect(later.timesUp).toBe(1), { timeout: 5_000 });
  });
});
