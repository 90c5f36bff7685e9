import { type IncomingMessage, request, type ServerResponse } from 'node:http';

/**
 * Passes a request on to the api like an ingress, so that the page and the api have one origin. Answers 502 if the api
 * can't be reached.
 */
export function passToApi(apiUrl: string, req: IncomingMessage, res: ServerResponse): void {
  const { method, headers, url = '/' } = req;
  // Host and port are always the api's, even if the request says otherwise, so this is not an open proxy.
  const { hostname, port } = new URL(apiUrl);
  const passed = request({ hostname, port, path: url, method, headers }, (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(res);
    answer.once('error', () => res.destroy());
  });
  passed.once('error', () => (res.headersSent ? res.destroy() : res.writeHead(502).end()));
  res.once('close', () => passed.destroy());
  req.pipe(passed);
}
