import { describe, expect, it } from 'vitest';
import { OverBudget, ReviewBudget } from '../../src/trust/reviewBudget.js';

const LIMITS = { bytes: 10, time: 50 };

describe('the budget of a review', () => {
  it('ends with the bytes', () => {
    const budget = new ReviewBudget(LIMITS, () => 0);
    budget.read(10);
    expect(() => budget.read(1)).toThrow(
      new OverBudget('names files of more than 10 bytes to check'),
    );
  });

  it('ends with the time, soon after it', () => {
    let now = 0;
    const budget = new ReviewBudget(LIMITS, () => now);
    budget.look();
    now += 50;
    for (let look = 0; look < 10; look++) budget.look();
    now += 1;
    expect(() => {
      for (let look = 0; look < 10; look++) budget.look();
    }).toThrow('takes more than 50 ms to look at');
  });
});
