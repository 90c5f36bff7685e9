import { MongoClient } from 'mongodb';

const expected = 'must be a connection string with user and password percent-encoded';

/** A message of the driver that names options and no value. */
const harmless = /^options? [\w, ]+ (?:is|are) not supported$/;

/** Checks of the settings of MongoDB before anything is opened. No message repeats a part of the value. */
export const mongoChecks = {
  /** The driver takes a part of a password that is not percent-encoded for a host, which stands in logs then. */
  address(value: unknown): { readonly path: ''; readonly message: string }[] {
    const message = typeof value === 'string' ? faultOf(value) : undefined;
    return message === undefined ? [] : [{ path: '', message }];
  },
};

function faultOf(uri: string): string | undefined {
  const [, authority = '', rest = ''] = /^mongodb(?:\+srv)?:\/\/([^/?#]*)(.*)$/s.exec(uri) ?? [];
  if (authority === '' || authority.split('@').length > 2 || rest.includes('@')) return expected;
  try {
    // biome-ignore lint/plugin: nothing is opened before the client connects
    const { hosts } = new MongoClient(uri).options;
    return hosts.every(({ port = 1 }) => port <= 65_535) ? undefined : expected;
  } catch (error) {
    const { message } = error as Error;
    return harmless.test(message) ? message : expected;
  }
}
