import type { Stores } from '@auth-account/stores';
import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { CommandError, exitCodes } from '../../cli/command-error.ts';
import { parseLimit, parseMoment, parseUuid } from '../../cli/parse-arguments.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { withMongo } from '../../compose.ts';
import { listDeadLetters, listEvents, showEvent } from './describe-events.ts';
import { replayEvents } from './replay-events.ts';
import { listSubscribers, requireSubscriber } from './subscribers.ts';

const states = ['pending', 'delivered', 'dead'] as const;

function parseSubscriber(text: string): string {
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(text)) throw new InvalidArgumentError('It must be the name of a subscriber.');
  return text;
}

const stateOption = () => new Option('--state <state>', 'only events in this state').choices(states);
const subscriberOption = () =>
  new Option('--subscriber <name>', 'only events that were sent to this subscriber').argParser(parseSubscriber);
const deadOption = () => new Option('--dead-letters', 'list deliveries that were given up').conflicts('state');
const timeOption = (flags: '--since <when>' | '--until <when>', text: string, shell: Shell) =>
  new Option(flags, text).argParser((when: string) => parseMoment(when, shell.now()));

const withStores = (shell: Shell, work: (stores: Stores) => Promise<Outcome>) =>
  shell.conclude(withMongo(shell, ({ stores }) => work(stores)));

/** Adds the commands `events …`. */
export function addEventCommands(program: Command, shell: Shell): void {
  const events = program.command('events').description('events in the outbox, their deliveries and dead letters');
  events
    .command('list')
    .description('list events, the oldest first')
    .addOption(stateOption())
    .addOption(subscriberOption())
    .addOption(new Option('--user <id>', 'only events of this user').argParser(parseUuid))
    .addOption(deadOption())
    .addOption(
      timeOption(
        '--since <when>',
        'only events made, or dead letters given up, since this time, such as 2h or an ISO time',
        shell,
      ),
    )
    .addOption(timeOption('--until <when>', 'only events made, or dead letters given up, before this time', shell))
    .addOption(new Option('--limit <n>', 'list at most this many').argParser(parseLimit).default(50))
    .action(({ deadLetters, limit, ...selection }) =>
      withStores(shell, (stores) =>
        deadLetters ? listDeadLetters(stores, bounds(selection), limit) : listEvents(stores, selection, limit),
      ),
    );
  events
    .command('show')
    .description('one event with its deliveries, attempts and dead letters')
    .argument('<event_id>', 'see events list', parseUuid)
    .action((id) => withStores(shell, (stores) => showEvent(stores, id)));
  addReplay(events, shell);
  addSettling(events, shell);
  addRetry(events, shell);
}

function bounds<T extends { readonly state?: unknown }>({ state: _, ...others }: T): Omit<T, 'state'> {
  return others;
}

function addReplay(events: Command, shell: Shell): void {
  const parseIds = (text: string, before: string[] | undefined) => [...(before ?? []), parseUuid(text)];
  events
    .command('replay')
    .description('send events again, under their own ids: the events named, or all that the options select')
    .argument('[event_id...]', 'see events list', parseIds)
    .addOption(stateOption())
    .addOption(new Option('--subscriber <name>', 'send to this subscriber only').argParser(parseSubscriber))
    .addOption(
      new Option('--dead-letters', 'send each event only to subscribers for which it was given up').conflicts('state'),
    )
    .addOption(
      timeOption(
        '--since <when>',
        'only events made, or dead letters given up, since this time, such as 2h or an ISO time',
        shell,
      ),
    )
    .addOption(timeOption('--until <when>', 'only events made, or dead letters given up, before this time', shell))
    .addOption(
      new Option('--missing', 'only events that --subscriber never received because it was added later').conflicts(
        'deadLetters',
      ),
    )
    .option('--dry-run', 'print the number of events and send nothing')
    .option('--yes', 'do not ask')
    .action((ids, options) => withStores(shell, (stores) => replayEvents(stores, ids ?? [], options, shell)));
}

/** Commands that change the state of a subscriber's deliveries. */
function addSettling(events: Command, shell: Shell): void {
  events
    .command('discard')
    .description('delete a dead letter without sending the event again')
    .argument('<event_id>', 'see events list --dead-letters', parseUuid)
    .addOption(
      new Option('--subscriber <name>', 'subscriber of the dead letter')
        .argParser(parseSubscriber)
        .makeOptionMandatory(),
    )
    .option('--yes', 'do not ask')
    .action((id, { subscriber, yes }) =>
      withStores(shell, async ({ deadLetters }) => {
        if (!yes) await shell.confirm(`Discard event ${id} for ${subscriber}?`);
        const isDone = await deadLetters.discard(id, subscriber, shell.now());
        if (!isDone) throw new CommandError(`${subscriber} has no dead letter of event ${id}.`);
        return { json: { event_id: id, subscriber, discarded: true }, text: 'Discarded.' };
      }),
    );
  events
    .command('subscribers')
    .description(
      'list the subscribers: whether the workers have them, whether they are suspended, how many dead letters they have',
    )
    .action(() => withStores(shell, listSubscribers));
  events
    .command('park')
    .description("suspend a subscriber's deliveries; nothing is dropped")
    .argument('<subscriber>', 'name of the subscriber', parseSubscriber)
    .action((name) =>
      withStores(shell, async (stores) => {
        await requireSubscriber(stores, name);
        const isNew = await stores.subscribers.suspend(name, { at: shell.now(), eventId: byOperator });
        return change(name, 'parked', isNew, `${name} was suspended already.`);
      }),
    );
  events
    .command('resume')
    .description("resume a suspended subscriber's deliveries")
    .argument('<subscriber>', 'name of the subscriber', parseSubscriber)
    .action((name) =>
      withStores(shell, async ({ subscribers }) => {
        const isNew = await subscribers.resume(name, shell.now());
        return change(name, 'resumed', isNew, `${name} was not suspended.`);
      }),
    );
}

function addRetry(events: Command, shell: Shell): void {
  events
    .command('retry')
    .description('try the events that wait for a subscriber now, evenly, instead of at the end of their pauses')
    .argument('<subscriber>', 'name of the subscriber', parseSubscriber)
    .action((name) =>
      withStores(shell, async (stores) => {
        const { parked_at } = await requireSubscriber(stores, name);
        if (parked_at) throw new CommandError(`${name} is suspended: authctl events resume ${name}`);
        await stores.subscribers.retry(name, shell.now());
        return { json: { subscriber: name, retried: true }, text: `The workers try what waits for ${name}.` };
      }),
    );
}

/** Stored if an operator suspended the subscriber. Otherwise the id of the event that was answered 410 is stored. */
const byOperator = 'operator';

function change(subscriber: string, what: 'parked' | 'resumed', isNew: boolean, otherwise: string): Outcome {
  const text = isNew ? `${subscriber} is ${what === 'parked' ? 'suspended' : what}.` : otherwise;
  return { json: { subscriber, [what]: isNew }, text, exitCode: isNew ? exitCodes.ok : exitCodes.negative };
}
