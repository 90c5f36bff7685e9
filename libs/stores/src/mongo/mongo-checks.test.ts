import { expect, test } from '@jest/globals';
import { mongoChecks } from './mongo-checks.ts';

test.each([
  'mongodb://localhost',
  'mongodb://user:p%40ss%2Fw@a:27017,b,[::1]:27018/auth?replicaSet=rs0&tls=true',
  'mongodb+srv://user:p%40ss@cluster.example.com/?retryWrites=true',
  'mongodb://%2Ftmp%2Fmongodb-27017.sock/auth',
])('a connection string is accepted: %s', (uri) => {
  expect(mongoChecks.address(uri)).toEqual([]);
});

const expected = 'must be a connection string with user and password percent-encoded';
test.each([
  ['mongodb://user:hunter@2/w@cache', expected],
  ['mongodb://user:hunter@2@cache', expected],
  ['mongodb://user:hunter?2@cache', expected],
  ['mongodb://user:hunter#2@cache', expected],
  ['mongodb://user:hunter/2@cache', expected],
  ['mongodb://user:hunter%@cache', expected],
  ['mongodb://user:hunter 2@', expected],
  ['mongodb://a:hunter', expected],
  ['mongodb://a:70000', expected],
  ['mongodb://', expected],
  ['redis://hunter', expected],
  ['mongodb://hunter/?replicaset=a&hunting=1', 'option hunting is not supported'],
])('a wrong connection string is refused, and no part of it is shown: %s', (uri, message) => {
  expect(mongoChecks.address(uri)).toEqual([{ path: '', message }]);
});
