import type { RequestHandler } from 'express';
import { sendJson } from './send-json.ts';

/** Makes a handler that answers with what `run` gives, as the `data` of a success. */
export function handler<T>(status: number, run: (...args: Parameters<RequestHandler>) => Promise<T>): RequestHandler {
  return async (req, res, next) => {
    sendJson(res, status, { status: 'success', data: await run(req, res, next) });
  };
}
