/** Receives one line of text, without its line break. */
export type Log = (line: string) => void;
