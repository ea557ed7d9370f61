import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../src/total.mjs';

await test('adds up prices', () => assert.equal(total([450, 520]), 970));
