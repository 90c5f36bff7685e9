import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { peerInstallCommand, peersDirectory as peers } from '../peers/peer-installs.ts';
import { centrifugoBinary, commandCentrifugo, startCentrifugo } from './centrifugo.ts';
import { type Commander, startCommander } from './commander.ts';
import type { DialectName } from './dialect.ts';
import { mintedTokenSeconds } from './mint-sessions.ts';
import { type ServerProcess, startServer } from './server-process.ts';

/** A server that does the gateway's work. */
export interface Candidate {
  readonly dialect: DialectName;
  /** A path that must exist before the start, and the command that creates it. */
  readonly needs?: string;
  readonly install?: string;
  start(env: Readonly<Record<string, string>>): Promise<ServerProcess>;
  command(env: Readonly<Record<string, string>>): Promise<Commander>;
}

const here = import.meta.dirname;
const common = { PATH: process.env.PATH, NODE_ENV: 'production' };
const commanderMain = fileURLToPath(new URL('./commander-main.ts', import.meta.url));
const ownCommander = (env: object) => startCommander(commanderMain, { ...common, ...env });

function peer(name: string, dialect: DialectName, commanded: Candidate['command'] = ownCommander): Candidate {
  const command = [process.execPath, join(peers, name, 'server.mjs')] as const;
  return {
    dialect,
    needs: join(peers, name, 'node_modules'),
    install: peerInstallCommand(name),
    start: (env) => startServer({ command, env: { ...common, ...env }, listening: /"listening":(\d+)/ }),
    command: commanded,
  };
}

export const candidates = {
  gateway: {
    dialect: 'plain',
    start: (env) =>
      startServer({
        command: [process.execPath, join(here, '../../../../services/push-gateway/src/main.ts')],
        env: {
          ...common,
          PUSH_PORT: '0',
          PUSH_OPS_PORT: '0',
          MAX_STREAMS_PER_GROUP: '100000',
          HANDSHAKE_LIMIT_PER_ADDRESS: '10000000',
          ACCESS_TOKEN_MAX_TTL_SECONDS: String(mintedTokenSeconds),
          ...env,
        },
        listening: /"port":(\d+)[^\n]*"push gateway listens"/,
      }),
    command: ownCommander,
  },
  ws: peer('ws', 'plain'),
  'socket.io': peer('socket.io', 'socket.io', (env) =>
    startCommander(join(peers, 'socket.io/commander.mjs'), { ...common, ...env }),
  ),
  centrifugo: {
    dialect: 'centrifugo',
    needs: centrifugoBinary,
    install: join(peers, 'centrifugo/build.sh'),
    start: startCentrifugo,
    command: commandCentrifugo,
  },
} as const satisfies Record<string, Candidate>;

export type CandidateName = keyof typeof candidates;

export function isReady({ needs }: Candidate): boolean {
  return needs === undefined || existsSync(needs);
}

/** Throws if a peer is not installed. The error names the command that installs it. */
export function assertInstalled(candidate: Candidate): void {
  if (!isReady(candidate)) throw new Error(`not installed: ${candidate.install}`);
}
