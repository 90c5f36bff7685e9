import { type Route, type RouteName, routes } from '@auth-account/contracts';
import type { Static, TSchema } from '@auth-account/contracts/type';
import { type Answer, type RequestHead, type SentRequest, send } from '../http-client.ts';

type Table = typeof routes;
type Each<T> = T extends unknown ? keyof T : never;
type Value<T, K extends PropertyKey> = T extends { readonly [P in K]?: infer V } ? V : never;
type BodyOf<N extends RouteName> = Table[N] extends { readonly body: infer S extends TSchema } ? Static<S> : object;
type ParamsOf<N extends RouteName> = Table[N] extends { readonly params: infer P } ? keyof P : never;

/** A word of an enumeration is offered, but tests send others too. */
type Loose<V> = V extends string ? V | (string & {}) : V;
/** Parameters of the path and fields of the body of an operation. Tests leave out a field to see what is then. */
export type Input<N extends RouteName> = [ParamsOf<N>] extends [never]
  ? Fields<N>
  : Fields<N> & { readonly [P in ParamsOf<N>]: string };
type Fields<N extends RouteName> = { readonly [K in Each<BodyOf<N>>]?: Loose<Value<BodyOf<N>, K>> | undefined };
type Headers = NonNullable<RequestHead['headers']>;
type Operation<N extends RouteName, A> = Table[N] extends { readonly body: TSchema } | { readonly params: object }
  ? (input: Input<N>, headers?: Headers) => Promise<A>
  : (headers?: Headers) => Promise<A>;

/** The operations of the API, by their names in the route table, with answers of type `A`. */
export type Operations<A = Answer> = { readonly [N in RouteName]: Operation<N, A> };

/** A driver of the API. */
export interface ApiDriver extends Operations {
  /** Sends any request, with the headers that each one needs. Given headers override them, `undefined` removes one. */
  send(request: SentRequest): Promise<Answer>;
}

export type Caller = { readonly access_token: string };

/** Returns the header that proves the caller, or shows the token or credential. */
export const bearer = (caller: Caller | string) => ({
  Authorization: `Bearer ${typeof caller === 'string' ? caller : caller.access_token}`,
});

/** The headers that every request needs. */
const neededHeaders = { 'Content-Type': 'application/json', 'X-Request-ID': 'test-request-1' };

/** Creates a driver of the api at this URL. */
export function apiAt(base: string, { headers: own, ...head }: RequestHead = {}): ApiDriver {
  return drive((request) =>
    send(base, { ...head, ...request, headers: { ...neededHeaders, ...own, ...request.headers } }),
  );
}

/** Returns the client with those headers on every request. */
export const withHeaders = <C extends ApiDriver>(client: C, own: object): C => ({
  ...client,
  ...drive((request) => client.send({ ...request, headers: { ...own, ...request.headers } })),
});

/** Creates a driver that sends its requests so. */
export function drive<A>(sendRequest: (request: SentRequest) => Promise<A>) {
  const operations = Object.entries<Route>(routes).map(([name, { params, body }]) => {
    const hasInput = params !== undefined || body !== undefined;
    return [
      name,
      (first?: object, second?: Headers) => {
        const [input, headers] = hasInput ? [first, second] : [undefined, first as Headers];
        return sendRequest({ ...requestTo(name as RouteName, input), ...(headers && { headers }) });
      },
    ];
  });
  return { send: sendRequest, ...(Object.fromEntries(operations) as Operations<A>) };
}

type DriverRequest = Pick<SentRequest, 'path'> & { readonly method: string; readonly body?: object };

/** Returns the request of an operation. The input's parameters go into the path, its other fields into the body. */
export function requestTo<N extends RouteName>(name: N, input?: Input<N>): DriverRequest {
  const { method, path, params, body: schema }: Route = routes[name];
  const given: Readonly<Record<string, unknown>> = { ...input };
  const filled = path.replaceAll(/:(\w+)/g, (_, param: string) => encodeURIComponent(String(given[param])));
  const fields = Object.entries(given).filter(([field]) => !(params && field in params));
  const body = params ? Object.fromEntries(fields) : input;
  return { method: method.toUpperCase(), path: filled, ...(schema && body && { body }) };
}

/** Returns the data of an answer. Throws if its status is another one. */
export async function dataOf(sent: Promise<Pick<Answer, 'status' | 'json'>>, wanted = 200): Promise<Answer['json']> {
  const { status, json } = await sent;
  if (status !== wanted) throw new Error(`the api answered ${status} in place of ${wanted}: ${JSON.stringify(json)}`);
  return json.data;
}
