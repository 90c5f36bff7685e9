import * as Type from '@auth-account/contracts/type';
import { expect, test } from '@jest/globals';
import { Refine } from 'typebox';
import { compileCheck, faultsOf } from './faults-of.ts';

const named = Type.Object({ name: Type.String() });

test('a fault has the path and what is expected there, without the value', () => {
  expect(faultsOf(named, { name: 7 })).toEqual(['/name must be string']);
  expect(compileCheck(named)({ name: 7 })).toBe('/name must be string');
});

test('a valid value has no fault', () => {
  expect(faultsOf(named, { name: 'x' })).toEqual([]);
  expect(compileCheck(named)({ name: 'x' })).toBeUndefined();
});

test('a value that the compiled schema refuses has a fault even if no reason is found', () => {
  let checks = 0;
  const onlyLater = Refine(Type.String(), () => checks++ > 0);
  expect(compileCheck(onlyLater)('x')).toBe('/ does not fit the schema');
});
