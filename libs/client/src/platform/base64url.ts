const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Encodes bytes. Not by `btoa`, because not every React Native has it. */
export function base64url(bytes: Uint8Array): string {
  let text = '';
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 6; ) {
      bits -= 6;
      text += alphabet[(held >> bits) & 63];
    }
  }
  return bits === 0 ? text : text + alphabet[(held << (6 - bits)) & 63];
}

/** Decodes a text to one character for each byte. Not by `atob`, because not every React Native has it. */
export function textOfBase64url(encoded: string): string {
  let text = '';
  let held = 0;
  let bits = 0;
  for (const character of encoded) {
    held = ((held << 6) | alphabet.indexOf(character)) & 0x3fff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      text += String.fromCharCode((held >> bits) & 0xff);
    }
  }
  return text;
}
