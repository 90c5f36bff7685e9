import { errorBodyOf, type Route } from '@auth-account/contracts';
import type { TSchema } from '@auth-account/contracts/type';
import { isThrowableCode, rowOf, type ThrowableCode } from '@auth-account/errors';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { RequestHandler } from 'express';
import { extendContext } from './request-context.ts';
import { compileSchema } from './validation/ajv.ts';

/** Error for an answer that breaks the contract. Only the error handler catches it, and answers 500. */
class ContractViolation extends Error {
  override readonly name = 'ContractViolation';
}

/**
 * Makes `sendJson` refuse an answer that the operation does not declare, in tests. A success must have the declared
 * status and fit the declared schema, without additional properties. An error must have one of the operation's codes,
 * with a status and exactly the body of the code's row in the catalogue.
 */
export function checkAnswersOf(route: Route): RequestHandler {
  const { body: successBody } = route.success;
  const errors = new Map(route.errors.map((code) => [code, errorCheck(code, route.errorStatuses?.[code])]));

  function check(status: number, body: unknown): string | undefined {
    if (route.token !== undefined && (status === 202 || status === 400)) return tokenFault(route.token, status, body);
    if (status === route.success.status || (route.success.created !== undefined && status === 201))
      return faultOf(
        compiled(successBody, () => successBody),
        body,
      );
    const code = String((body as { error_code?: unknown } | null)?.error_code);
    const error = errors.get(code);
    if (error === undefined) return `the operation declares no ${code}`;
    if (!error.statuses.includes(status)) return `${code} has no status ${status}`;
    return faultOf(error.body(), body);
  }

  return (_req, res, next) => {
    extendContext(res, {
      checkAnswer(status, body) {
        const sent: unknown = body === undefined ? undefined : JSON.parse(JSON.stringify(body));
        const fault = check(status, sent);
        if (fault === undefined) return;
        // The 500 that follows is always sent, even if the operation does not declare it.
        extendContext(res, { checkAnswer: undefined });
        const message = `${route.operationId} must not answer ${status}: ${fault}`;
        process.emitWarning(message, 'ContractViolation');
        throw new ContractViolation(message);
      },
    });
    next();
  };
}

/** Returns the fault of an answer to a security event token. */
function tokenFault({ refused }: NonNullable<Route['token']>, status: number, body: unknown): string | undefined {
  if (status === 202) return body === undefined ? undefined : 'a 202 has no body';
  return faultOf(
    compiled(refused.body, () => refused.body),
    body,
  );
}

interface ErrorCheck {
  readonly statuses: readonly number[];
  readonly body: () => ValidateFunction;
}

function errorCheck(code: string, own?: readonly number[]): ErrorCheck {
  if (!isThrowableCode(code)) throw new Error(`the error catalogue has no ${code}`);
  const { http, httpAlternatives = [], details } = rowOf(code);
  const body = () => compiled(code, () => errorBodyOf(code, details));
  return { statuses: own ?? [http, ...httpAlternatives], body };
}

const validators = new Map<TSchema | ThrowableCode, ValidateFunction>();

/**
 * Returns the validator of a code's body or of a schema, compiled on its first use and once for all apis of the process:
 * the schemas of all routes would add half a second to each start, and a test uses few.
 */
function compiled(key: TSchema | ThrowableCode, schemaOf: () => TSchema): ValidateFunction {
  const validate = validators.get(key) ?? compileSchema(closeSchema(schemaOf()));
  validators.set(key, validate);
  return validate;
}

function faultOf(validate: ValidateFunction, body: unknown): string | undefined {
  if (validate(body)) return undefined;
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`).join('; ');
}

/** Returns the schema with `additionalProperties: false` on every object that lists its properties. */
function closeSchema(schema: TSchema): TSchema {
  return close(JSON.parse(JSON.stringify(schema))) as TSchema;
}

function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close);
  if (typeof value !== 'object' || value === null) return value;
  const closed = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, close(member)]));
  return closed.type === 'object' && 'properties' in closed ? { ...closed, additionalProperties: false } : closed;
}
