import type { TSchema } from '@auth-account/contracts/type';
import { Ajv2020, type FuncKeywordDefinition, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** Bounds of the keyword `normalizedLength`, in Unicode code points after NFKC. */
interface LengthBounds {
  readonly minimum: number;
  readonly maximum: number;
}

/** `params` of AJV's error for a violated `normalizedLength`. */
export interface NormalizedLengthParams {
  readonly violation: 'short' | 'long' | 'character';
  readonly limit: number;
}

/**
 * The keyword `normalizedLength: { minimum, maximum }`. It counts code points after NFKC, and refuses ill-formed
 * Unicode and NUL. JSON Schema's own `minLength` counts before normalisation.
 */
const normalizedLength: FuncKeywordDefinition = {
  keyword: 'normalizedLength',
  type: 'string',
  schemaType: 'object',
  errors: true,
  compile(bounds: LengthBounds) {
    const check = (text: string): boolean => {
      const params = violationOf(text, bounds);
      if (params === undefined) return true;
      (check as { errors?: object[] }).errors = [{ keyword: 'normalizedLength', params }];
      return false;
    };
    return check;
  },
};

function violationOf(text: string, { minimum, maximum }: LengthBounds): NormalizedLengthParams | undefined {
  if (!text.isWellFormed() || text.includes('\0')) return { violation: 'character', limit: 0 };
  const length = [...text.normalize('NFKC')].length;
  if (length < minimum) return { violation: 'short', limit: minimum };
  return length > maximum ? { violation: 'long', limit: maximum } : undefined;
}

// The schemas themselves are validated by a test of the OpenAPI document: here it would slow each start.
// A branch may require properties that its parent lists.
const ajv = new Ajv2020({
  ...{ allErrors: true, strict: true, strictRequired: false, allowUnionTypes: true, validateSchema: false },
});
addFormats.default(ajv, ['date-time']);
// The format of ajv-formats also allows the prefix `urn:uuid:`.
ajv.addFormat('uuid', /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i);
ajv.addKeyword(normalizedLength);
// The body was read by it before: see `readAsMeant`.
ajv.addKeyword('readAs');

/**
 * Compiles a schema of the contract. Validation reports every violation, coerces nothing, sets no defaults and removes
 * nothing.
 */
export function compileSchema<T>(schema: TSchema): ValidateFunction<T> {
  return ajv.compile<T>(schema);
}
