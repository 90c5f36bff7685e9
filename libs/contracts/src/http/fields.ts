import * as Type from '../type.ts';

/**
 * RFC 5322 `dot-atom` before the @, and a host name with at least one dot after it. Its last label starts with a letter,
 * so it is no IPv4 address. The pattern accepts only ASCII and matches in linear time.
 */
const emailPattern =
  "^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*" +
  '@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$';

/**
 * Email address of at most 64 characters before the @ (RFC 5321, section 4.5.3.1.1), as the user writes it, without
 * white space. An international domain is stored in its `xn--` form.
 */
export const Email = Type.String({
  readAs: 'email',
  maxLength: 254,
  pattern: emailPattern,
  // A text without @ breaks one rule, not two.
  allOf: [{ pattern: '^(?:[^@]{0,64}@|[^@]*$)' }],
  examples: ['cook@example.com'],
});

/**
 * A new password. Its length is counted in code points after NFKC (NIST SP 800-63B-4, 3.1.1.2). JSON Schema's
 * `minLength` cannot express this, so `normalizedLength` is our own keyword for the API's AJV.
 */
export const NewPassword = Type.String({
  normalizedLength: { minimum: 8, maximum: 128 },
  description: '8 to 128 Unicode code points after NFKC; any character but NUL.',
  examples: ['correct horse battery'],
});

/**
 * A password that is compared with the stored password. Only its length is limited, so that a wrong password counts as
 * wrong and not as malformed.
 */
export const GivenPassword = Type.String({ minLength: 1, maxLength: 1024, examples: ['correct horse battery'] });

/** Characters that no text for people may contain: control characters and lone surrogates. */
const plain = '\\p{Cc}\\p{Cs}';

/** Text that people read, of well-formed Unicode without control characters. */
export function PlainText(options: { readonly maxLength: number; readonly examples: readonly string[] }) {
  return Type.String({ ...options, examples: [...options.examples], pattern: `^[^${plain}]*$` });
}

/**
 * Line and paragraph separators, and characters that change the text around them: controls of text direction,
 * annotation characters and deprecated format characters.
 */
export const disturbing = '\\p{Zl}\\p{Zp}\\p{Bidi_Control}\\u206a-\\u206f\\ufff9-\\ufffb';

/**
 * Characters that show nothing by themselves: spaces, characters that fonts ignore (ZWJ, fillers), format characters,
 * marks (they would attach to the text before), the blanks of Braille, hieroglyphs and music, and the object
 * replacement character.
 */
const invisible = '\\p{Z}\\p{Default_Ignorable_Code_Point}\\p{Cf}\\p{M}\\u2800\\ufffc\\u{13441}\\u{13442}\\u{1d159}';

/** A character that can be seen. */
export const visible = `[^${plain}${invisible}${disturbing}]`;

/**
 * A name that people choose and others read, or null for no name. Its first character, after any spaces, is visible. A
 * name has no line breaks and nothing that changes the text around it. After the first visible character it may have
 * the joiners, marks and selectors that emoji and some scripts need.
 */
export const NameOrNull = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  minLength: 1,
  maxLength: 64,
  pattern: `^[\\p{Zs}]*${visible}[^${plain}${disturbing}]*$`,
  examples: ['Anna'],
});

/**
 * A name in an answer, as it is stored. It may break the rule of `NameOrNull`, because it may be older than the rule,
 * or imported.
 */
export const StoredNameOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'], examples: ['Anna'] });

/** Languages of messages and mails. */
export const Locale = Type.Enum(['en', 'ru']);
export type Locale = Type.Static<typeof Locale>;

/** Purpose of a code that is sent by e-mail. */
export const CodePurpose = Type.Enum([
  'email_verification',
  'password_reset',
  'email_change',
  'account_deletion',
  'step_up',
  'second_factor_removal',
  'login',
  'identity_link',
]);
export type CodePurpose = Type.Static<typeof CodePurpose>;

export const AccountType = Type.Enum(['HOME', 'OFFICE']);
export type AccountType = Type.Static<typeof AccountType>;

export const Uuid = Type.String({ format: 'uuid' });

/** ISO 8601 in UTC with milliseconds and `Z`. */
export const Timestamp = Type.String({
  format: 'date-time',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
});

/** Number of open invites that were revoked because an account was recovered. */
export const InvitesRevoked = Type.Integer({
  minimum: 0,
  description: 'Number of open invites of the account that were revoked.',
});

/** Id of a challenge that the service stores nowhere: a sealed token. */
export const ChallengeToken = Type.String({ minLength: 1, maxLength: 2_048 });

/** Seconds, counted from the answer. */
export const Seconds = Type.Integer({ minimum: 1 });

/** A sealed challenge or step-up token: opaque to apps (docs/specification/sign-in.md, "One end"). */
export const SealedToken = Type.String({ minLength: 1, maxLength: 2_048, examples: ['2026-11.c2VhbGVk'] });

/** The envelope of every success. `status` is constant. */
export function Success<T extends Type.TSchema>(data: T) {
  return Type.Object({ status: Type.Literal('success'), data });
}

/** A body whose `method` decides which field it must have. */
type DemandedByMethod<Body, Needs extends Demands> = Body extends { readonly method: infer Methods extends string }
  ? {
      [M in Methods]: Body & { readonly method: M } & {
        readonly [F in keyof Needs & keyof Body as M extends Needs[F][number] ? F : never]: Exclude<Body[F], undefined>;
      };
    }[Methods]
  : never;

type Demands = Readonly<Record<string, readonly string[]>>;

/** Adds to a body with a `method`, for each field, the methods that need it. */
export function demandByMethod<S extends Type.TSchema, const Needs extends Demands>(body: S, needs: Needs) {
  const allOf = Object.entries(needs).map(([field, methods]) => ({
    if: { not: { properties: { method: { enum: methods } } } },
    else: { required: [field] },
  }));
  return Type.Unsafe<DemandedByMethod<Type.Static<S>, Needs>>({ ...body, allOf });
}

/** A body that has all fields of one of the sets. */
type WithOneOf<Body, Sets extends FieldSets> = {
  [I in keyof Sets]: Body & { readonly [F in Sets[I][number] & keyof Body]: Exclude<Body[F], undefined> };
}[number];

type FieldSets = readonly (readonly string[])[];

/** Adds to a body the sets of fields of which it must have one. */
export function demandOneOf<S extends Type.TSchema, const Sets extends FieldSets>(body: S, sets: Sets) {
  return Type.Unsafe<WithOneOf<Type.Static<S>, Sets>>({ ...body, anyOf: sets.map((required) => ({ required })) });
}
