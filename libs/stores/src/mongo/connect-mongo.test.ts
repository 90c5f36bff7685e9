import { describe, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { mongoOptions } from './connect-mongo.ts';

/** Returns the options as the driver reads them. */
function optionsOf(uri: string): MongoClient['options'] {
  return new MongoClient(uri, mongoOptions('test', uri)).options;
}

describe('time-outs of the driver', () => {
  test('time-outs of the driver are seconds where the connection string says nothing', () => {
    expect(optionsOf('mongodb://a:1,b:2/?replicaSet=rs0')).toMatchObject({
      connectTimeoutMS: 2_000,
      serverSelectionTimeoutMS: 3_000,
      socketTimeoutMS: 8_000,
      heartbeatFrequencyMS: 2_000,
      maxPoolSize: 50,
    });
    expect(optionsOf('mongodb://a:1').socketTimeoutMS).toBe(8_000);
  });

  test('time-outs of the driver are those of the connection string, in whatever case, where it has some', () => {
    const uri = 'mongodb://user:p%3Fss@a:1/db?sockettimeoutms=4000&maxPoolSize=7';
    expect(optionsOf(uri)).toMatchObject({ socketTimeoutMS: 4_000, maxPoolSize: 7, connectTimeoutMS: 2_000 });
  });
});
