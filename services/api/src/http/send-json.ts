import type { Response } from 'express';
import { contextOf } from './request-context.ts';

/**
 * Ends the answer with JSON; the content type is exactly `application/json` (docs/specification/requests.md,
 * "Answers"). If answers are validated it throws instead of sending one that the contract does not allow.
 */
export function sendJson(res: Response, status: number, body: unknown): void {
  contextOf(res).checkAnswer?.(status, body);
  res.statusCode = status;
  res.setHeader('Content-Type', 'application/json');
  res.end(JSON.stringify(body));
}
