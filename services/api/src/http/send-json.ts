import type { Response } from 'express';

/** Ends the answer with JSON; the content type is exactly `application/json` (decisions, "answers"). */
export function sendJson(res: Response, status: number, body: unknown): void {
  res.statusCode = status;
  res.setHeader('Content-Type', 'application/json');
  res.end(JSON.stringify(body));
}
