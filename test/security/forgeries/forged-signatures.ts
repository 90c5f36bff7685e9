import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { type Forger, newSigningKey } from '../../support/api/token-forger.ts';

export function forgedSignatures({ header, claims, genuine, sealed }: Forger): string[] {
  const [head, payload, text] = genuine.split('.') as [string, string, string];
  const right = Buffer.from(text, 'base64url');
  const withSignature = (signature: string) => `${head}.${payload}.${signature}`;
  const flipped = Array.from({ length: right.length * 8 }, (_, bit) => {
    const bytes = Buffer.from(right);
    bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    return bytes;
  });
  const half = right.length / 2;
  const bytes: Buffer[] = [
    ...flipped,
    ...[
      Buffer.alloc(0),
      Buffer.alloc(64),
      Buffer.alloc(64, 0xff),
      Buffer.alloc(32),
      Buffer.alloc(65),
      Buffer.alloc(96),
    ],
    Buffer.concat([right.subarray(half), right.subarray(0, half)]),
    Buffer.concat([Buffer.alloc(half), right.subarray(half)]),
    Buffer.concat([right.subarray(0, half), Buffer.alloc(half)]),
    Buffer.concat([right, Buffer.alloc(1)]),
    Buffer.concat([Buffer.alloc(1), right]),
    Buffer.from(right).reverse(),
    derOf(right),
    createHash('sha256').update(`${head}.${payload}`).digest(),
    createHash('sha512').update(`${head}.${payload}`).digest(),
  ];
  return [...bytes.map((signature) => sealed(header, claims, signature)), ...sameBytes(text).map(withSignature)];
}

/** Returns other spellings of the same signature that base64 readers accept. */
function sameBytes(text: string): string[] {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet.indexOf(text.at(-1) as string);
  const trailing = Array.from({ length: 15 }, (_, i) => text.slice(0, -1) + alphabet[last + 1 + i]);
  const standard = text.replaceAll('-', '+').replaceAll('_', '/');
  const padded = ['=', '==', '===', '%3D%3D', '\u0000', '\n', ' ', '\t', '.', '~', '*'].map((end) => text + end);
  const spaced = [1, 20, 43, 85].flatMap((at) =>
    [' ', '\n', '=', '\r\n', '\u00a0'].map((gap) => text.slice(0, at) + gap + text.slice(at)),
  );
  // Without a - or _, the standard alphabet spells the signature the same way, so adds no spelling.
  return [...trailing, ...(standard === text ? [] : [standard]), `${standard}==`, ...padded, ...spaced];
}

/** Returns the signature's two halves as ASN.1 integers, as other libraries write ES256. */
function derOf(signature: Buffer): Buffer {
  const integers = [signature.subarray(0, 32), signature.subarray(32)].map((half) => {
    return Buffer.concat([Buffer.from([2, 33, 0]), half]);
  });
  const body = Buffer.concat(integers);
  return Buffer.concat([Buffer.from([48, body.length]), body]);
}

export function wrongKeys(forger: Forger): string[] {
  const { header, claims, retired, foreign, material, algorithm, otherAlgorithm: other, signed, sealed } = forger;
  const heads = [
    header,
    { ...header, kid: retired.kid },
    { ...header, alg: other },
    { ...header, kid: foreign.kid, alg: other },
  ];
  const keys = [retired, foreign, newSigningKey(algorithm, material.key.kid), newSigningKey(other, 'x')];
  const payloads = Array.from({ length: 5 }, () => ({ ...claims, jti: randomUUID() }));
  return heads.flatMap((head) =>
    payloads.flatMap((payload) => [
      ...keys.map((key) => signed(head, payload, key)),
      ...(head === header ? [] : [signed(head, payload)]),
      sealed(head, payload, randomBytes(64)),
    ]),
  );
}
