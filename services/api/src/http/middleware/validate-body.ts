import type { TSchema } from '@auth-account/contracts/type';
import { AppError } from '@auth-account/errors';
import type { RequestHandler } from 'express';
import { compileSchema } from '../validation/ajv.ts';
import type { BodyCheck } from '../validation/body-checks.ts';
import { readAsMeant } from '../validation/read-as-meant.ts';
import { validationItems } from '../validation/validation-items.ts';

/**
 * Reads the body as its sender means it, and checks it against the route's schema and with its body check. Raises
 * `ERR-VALIDATION-FAILED` with every violation.
 */
export function validateBody(schema: TSchema, check: BodyCheck = () => []): RequestHandler {
  const validate = compileSchema(schema);
  return (req, _res, next) => {
    req.body = readAsMeant(schema, req.body);
    const fits = validate(req.body);
    const details = [...(fits ? [] : validationItems(validate.errors ?? [])), ...check(req.body)];
    if (!fits || details.length > 0) throw new AppError('ERR-VALIDATION-FAILED', { details });
    next();
  };
}
