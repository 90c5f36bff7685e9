import { createServer } from 'node:http';
import type { AuthClient } from '@auth-account/client';
import { type AxiosConfig, attachAuth } from '@auth-account/client/axios';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newEmail, password } from '../../support/api/accounts.ts';
import { type ClientFixture, codeOf, noStream, openClientFixture } from '../../support/client/client-fixture.ts';
import { listen } from '../../support/listen.ts';

interface Config extends AxiosConfig {
  readonly baseURL?: string;
  readonly url: string;
  readonly method?: string;
}

interface Answer {
  readonly status: number;
  readonly data: unknown;
}

/**
 * Does what axios 1.21 does for interceptors: copies the config for each request, and fails with config and response.
 */
function createAxiosLike(baseURL?: string) {
  const onSend: ((config: Config) => Promise<Config>)[] = [];
  const onFailure: ((error: unknown) => Promise<Answer>)[] = [];
  const axios = {
    interceptors: {
      request: { use: (handle: (typeof onSend)[number]) => onSend.unshift(handle) },
      response: { use: (_: unknown, handle: (typeof onFailure)[number]) => onFailure.push(handle) },
    },
    getUri: ({ baseURL: base = '', url }: Config) => (/^https?:/.test(url) ? url : base + url),
    async request(given: Config): Promise<Answer> {
      let config: Config = { ...(baseURL && { baseURL }), ...given, headers: { ...given.headers } };
      for (const handle of onSend) config = await handle(config);
      let done = dispatch(config);
      for (const handle of onFailure) done = done.catch(handle);
      return done;
    },
  };
  async function dispatch(config: Config): Promise<Answer> {
    const { headers, method = 'GET', data } = config;
    const body = data === undefined ? {} : { body: data as string };
    const response = await fetch(axios.getUri(config), { method, headers, ...body });
    const answer = { status: response.status, data: JSON.parse((await response.text()) || 'null') };
    if (!response.ok) throw Object.assign(new Error('status'), { config, response: answer });
    return answer;
  }
  return axios;
}

let fixture: ClientFixture;
/** Headers that another host has received. */
let heard: { readonly authorization: string | undefined; readonly id: string | string[] | undefined }[] = [];
/** Status and body of the other host's answers. */
let answer: readonly [number, string] = [200, '{}'];
const server = createServer((request, response) => {
  const { authorization, 'x-request-id': id } = request.headers;
  heard.push({ authorization, id });
  response.writeHead(answer[0], { 'Content-Type': 'application/json' }).end(answer[1]);
});
let other: Awaited<ReturnType<typeof listen>>;

beforeAll(async () => {
  fixture = await openClientFixture();
  other = await listen(server);
});
beforeEach(() => {
  heard = [];
  answer = [200, '{}'];
});
afterAll(async () => {
  await fixture.close();
  await other.close();
});

function attached(client: AuthClient, origins: readonly string[] = [fixture.api.base]) {
  const axios = createAxiosLike(fixture.api.base);
  attachAuth(axios, client, origins);
  return axios;
}

const refusal = JSON.stringify({ error_code: 'IAD_JWT_ACCESS_INVALID', message: 'refused', details: {} });

test('a request to a named origin is the user’s, and one to another host has neither token nor id', async () => {
  const { client } = await fixture.signedIn(noStream);
  const axios = attached(client);
  expect((await axios.request({ url: '/api/v1/account', headers: {} })).status).toBe(200);
  for (const url of [`${other.url}/`, `${fixture.api.base}.example.test/`, `${fixture.api.base}@127.0.0.1:1/`]) {
    await axios.request({ url, headers: {} }).catch(() => undefined);
  }
  expect(heard).toEqual([{ authorization: undefined, id: undefined }]);
});

test('requests that are refused at once share one refresh, and each is repeated', async () => {
  const { client, network } = await fixture.signedIn(noStream);
  const refused = await client.accessToken();
  // At first the client holds a token that the service refuses.
  let uses = 0;
  const first = {
    state: client.state,
    accessToken: async (old?: string) => (old ? client.accessToken(old) : spoilt()),
  };
  async function spoilt() {
    uses += 1;
    return refused;
  }
  await client.sessions.list();
  const axios = attached(first as unknown as AuthClient, [other.url]);
  answer = [401, refusal];
  const before = network.to('/refresh').length;
  const codes = await Promise.all(
    [1, 2, 3].map(() =>
      axios.request({ url: `${other.url}/items`, headers: {} }).catch((error) => error.response.status),
    ),
  );
  // The host refuses every token: no request is repeated twice, and nobody is signed out.
  expect(codes).toEqual([401, 401, 401]);
  expect(heard).toHaveLength(6);
  expect(new Set(heard.map(({ id }) => id)).size).toBe(6);
  expect(new Set(heard.map(({ authorization }) => authorization)).size).toBe(2);
  expect(uses).toBe(3);
  expect(network.to('/refresh').length - before).toBe(1);
  expect(client.state().status).toBe('signed_in');
});

test('a 401 of somebody else, a header of the app’s own and a stream are left alone', async () => {
  const { client, network } = await fixture.signedIn(noStream);
  const axios = attached(client, [other.url]);
  const send = (config: Partial<Config>) =>
    axios.request({ url: `${other.url}/`, headers: {}, ...config }).catch((error) => error.response?.status);
  answer = [401, '{"login":"here"}'];
  expect(await send({})).toBe(401);
  answer = [401, refusal];
  expect(await send({ headers: { authorization: 'Basic YTpi', 'x-request-id': 'mine' } })).toBe(401);
  expect(heard.at(-1)).toEqual({ authorization: 'Basic YTpi', id: 'mine' });
  const before = heard.length;
  await send({ method: 'POST', data: Object.assign(new Uint8Array([1]), { pipe: () => undefined }) });
  expect(heard).toHaveLength(before + 1);
  expect(network.to('/refresh')).toEqual([]);
});

test('a request while nobody is signed in fails before it leaves', async () => {
  const { client } = fixture.app(noStream);
  const axios = attached(client, [other.url]);
  expect(await codeOf(axios.request({ url: `${other.url}/`, headers: {} }))).toBe('CLIENT_SIGNED_OUT');
  expect(heard).toEqual([]);
});

test.each(['before it leaves', 'before it is repeated'])(
  'the request of a user whom another one follows %s is not sent',
  async (when) => {
    const { client } = await fixture.signedIn(noStream);
    const isRepeat = when === 'before it is repeated';
    async function accessToken(refused?: string): Promise<string> {
      if ((refused !== undefined) === isRepeat) {
        const email = newEmail();
        await client.logOut();
        await client.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
        await client.logIn({ email, password });
      }
      return client.accessToken();
    }
    answer = [401, refusal];
    const axios = attached({ ...client, accessToken }, [other.url]);
    expect(await codeOf(axios.request({ url: `${other.url}/`, headers: {} }))).toBe('CLIENT_SUPERSEDED');
    expect(heard).toHaveLength(isRepeat ? 1 : 0);
  },
);
