import type { Response } from 'express';
import { contextOf } from './request-context.ts';

/**
 * Ends the answer with JSON, whose content type is exactly `application/json` (docs/specification/requests.md,
 * "Answers"). If answers are validated and the contract does not allow this answer, it throws instead of sending it.
 */
export function sendJson(res: Response, status: number, body: unknown): void {
  contextOf(res).checkAnswer?.(status, body);
  res.statusCode = status;
  res.setHeader('Content-Type', 'application/json');
  res.end(JSON.stringify(body));
}

/** Ends the answer without a body, under the same rule. */
export function sendEmpty(res: Response, status: number): void {
  contextOf(res).checkAnswer?.(status, undefined);
  res.statusCode = status;
  res.end();
}
