import type { MedianCost } from '../cost/cost-medians.ts';
import { coldText, warmUpText } from '../cost/cost-table.ts';
import { type OperationsResult, rounds } from '../cost/measure-operations.ts';
import type { OperationName } from '../cost/operations.ts';
import { maxOthers } from '../cost/quiet-rounds.ts';
import { comparedRounds, stillWithin } from '../cost/steady-state.ts';
import { markdownTable, paragraphs, type Section } from './section.ts';

const two = (value: number) => value.toFixed(2);

export function operationsSection(result: OperationsResult): Section {
  const { costs, bareHashMs, repeated } = result;
  const disturbed =
    repeated === 0
      ? `Other processes took at most ${maxOthers} of a core in every round`
      : `${repeated} rounds were repeated, because other processes took more than ${maxOthers} of a core; the quietest attempt counts`;
  return {
    heading: 'What an operation costs',
    text: paragraphs(
      `The table shows CPU milliseconds of one operation (user and system, as the kernel’s scheduler counts them for each process): medians of ${rounds} rounds, in which the servers took turns. ${disturbed}. A bare Argon2id hash (19456 KiB, two passes, one lane; \`@node-rs/argon2\`) took ${two(bareHashMs)} ms in the same run. Every server kept its data in the same MongoDB, with writes that wait until a majority has them on disk.`,
      `Rounds count only after the server’s cost has become steady. Until then the server answers rounds of 300 operations (60 with a hash). Its cost is steady when the median CPU time per operation of ${comparedRounds} rounds (with a hash: of the event loop alone) differs by less than ${stillWithin * 100} % from that of the ${comparedRounds} rounds before. *Operations before* is the number of operations until then. *Cold* is the cost of server and MongoDB for the first 150 operations (30 with a hash) of a new process, whose code V8 has not compiled yet.`,
      markdownTable(
        [
          ...['operation', 'server', 'its CPU ms', 'MongoDB', 'Redis', 'server and MongoDB', 'in bare hashes'],
          ...['beside api', 'per second', 'per CPU second', 'cold', 'operations before'],
        ],
        costs.map((cost) => costRow(cost, result)),
      ),
      '*Per second* is by the clock, while clients, server and stores share the cores. Registration and login had twice as many requests at once as there are cores, the other operations eight. The CPU of registration and login was measured with one request at a time, as that of the bare hash was. *Per CPU second* is by the CPU time of server and MongoDB.',
      peersText(result),
    ),
  };
}

function costRow(cost: MedianCost, result: OperationsResult): string[] {
  const { costs, rates, colds, warmUps } = result;
  const { operation, candidate, server, mongod, redis, both, inHashes } = cost;
  const ownMs = costs.find((each) => each.operation === operation && each.candidate === 'api')?.both ?? Number.NaN;
  const rate = rates.find((each) => each.operation === operation && each.candidate === candidate) ?? cost;
  return [
    ...[operation, candidate],
    ...[server, mongod, redis, both].map(two),
    inHashes.toFixed(inHashes < 1 ? 3 : 2),
    candidate === 'api' ? '' : `${two(both / ownMs)} ×`,
    rate.perSecond.toFixed(0),
    (1_000 / both).toFixed(0),
    ...[coldText(colds, cost), warmUpText(warmUps, cost)],
  ];
}

function peersText({ peers }: OperationsResult): string {
  if (peers.length === 0) return '';
  const names: readonly OperationName[] = ['register', 'login', 'session read', 'refresh', 'logout'];
  return paragraphs(
    'The table shows what each peer does for an operation. The peers count no attempts, keep no audit, publish no event and close no stream. The bare prototype is the api without validation, limits, logs, metrics, audit, idempotency and hash gate.',
    markdownTable(
      ['peer', 'hash', ...names],
      peers.map(({ name, version, hash, offers }) => [
        `${name} ${version}`,
        hash ?? '–',
        ...names.map((operation) => offers[operation] ?? '–'),
      ]),
    ),
  );
}
