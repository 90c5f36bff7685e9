import type { CookieOptions, Request, Response } from 'express';

/** A cookie of the console. */
export interface Cookie {
  read(req: Request): string | undefined;
  write(res: Response, value: string, seconds: number): void;
  clear(res: Response): void;
}

/**
 * Describes a cookie that no script reads. Over HTTPS its name has the prefix `__Host-`, so that no other host of the
 * domain can set it (RFC 6265bis, section 4.1.3.2).
 */
export function describeCookie(origin: string, plainName: string, sameSite: 'strict' | 'lax'): Cookie {
  const secure = origin.startsWith('https:');
  const name = secure ? `__Host-${plainName}` : plainName;
  const options: CookieOptions = { httpOnly: true, secure, sameSite, path: '/' };
  return {
    read({ headers: { cookie = '' } }) {
      const pairs = cookie.split(/; */);
      return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
    },
    write: (res, value, seconds) => void res.cookie(name, value, { ...options, maxAge: seconds * 1_000 }),
    clear: (res) => void res.clearCookie(name, options),
  };
}
