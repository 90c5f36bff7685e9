import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openGatewayScene } from '../../../support/gateway-scene.ts';
import { gatewayEnvironment } from '../../../support/test-api.ts';
import { type CandidateName, candidates } from './candidates.ts';
import { mostStreamsPerProcess } from './descriptor-limit.ts';
import { type CandidateResult, type MeasureOptions, measureCandidate } from './measure-candidate.ts';
import { mintSessions } from './mint-sessions.ts';

/** A run of one candidate with these numbers of streams. */
export interface CandidateRun extends Pick<MeasureOptions, 'sizes'> {
  readonly candidate: CandidateName;
}

/** Measures the candidates one after another, on one Redis. Throws if a process can't have enough descriptors. */
export async function measureCandidates(
  runs: readonly CandidateRun[],
  log: (line: string) => void,
): Promise<Record<string, CandidateResult>> {
  const limit = await mostStreamsPerProcess();
  const most = Math.max(...runs.map(({ sizes }) => sizes.at(-1) ?? 0));
  if (most > limit) throw new Error(`${most} streams need more descriptors than there are here, for ${limit}`);
  const directory = await mkdtemp(join(tmpdir(), 'push-bench-'));
  const scene = await openGatewayScene();
  try {
    const { env } = scene;
    const minted = await mintSessions(env.ACCESS_TOKEN_KEYS_FILE ?? '', most, directory);
    const results: Record<string, CandidateResult> = {};
    for (const { candidate, sizes } of runs) {
      log(candidate);
      const measured = { minted, env: gatewayEnvironment(env), sizes, log };
      results[candidate] = await measureCandidate(candidates[candidate], measured);
    }
    return results;
  } finally {
    await scene.close();
    await rm(directory, { recursive: true });
  }
}
