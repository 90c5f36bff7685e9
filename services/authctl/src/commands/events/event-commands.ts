import {
  type EventContext,
  listDeadLetters,
  listEvents,
  listSubscribers,
  planDiscard,
  planResumption,
  planRetry,
  planSuspension,
  showEvent,
} from '@auth-account/operations/events';
import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { exitCodes } from '../../cli/command-error.ts';
import { parseLimit, parseMoment, parseUuid } from '../../cli/parse-arguments.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { withMongo } from '../../compose.ts';
import { describeDeadLetters, describeEvent, describeEvents, describeSubscribers } from './describe-events.ts';
import { replayEvents } from './replay-events.ts';

const states = ['pending', 'delivered', 'dead'] as const;

function parseSubscriber(text: string): string {
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(text)) throw new InvalidArgumentError('It must be the name of a subscriber.');
  return text;
}

const stateOption = () => new Option('--state <state>', 'only events in this state').choices(states);
const subscriberOption = () =>
  new Option('--subscriber <name>', 'only events that were sent to this subscriber').argParser(parseSubscriber);
const deadOption = () => new Option('--dead-letters', 'list deliveries that were given up').conflicts('state');
const span = 'only events made, or dead letters given up,';
const timeOption = (flags: '--since <when>' | '--until <when>', text: string, shell: Shell) =>
  new Option(flags, `${span} ${text}`).argParser((when: string) => parseMoment(when, shell.now()));
const sinceOption = (shell: Shell) => timeOption('--since <when>', 'since this time, such as 2h or an ISO time', shell);
const untilOption = (shell: Shell) => timeOption('--until <when>', 'before this time', shell);

const withEvents = (shell: Shell, work: (context: EventContext) => Promise<Outcome>) =>
  shell.conclude(withMongo(shell, ({ stores }) => work({ stores, now: shell.now })));

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
    .addOption(sinceOption(shell))
    .addOption(untilOption(shell))
    .addOption(new Option('--limit <n>', 'list at most this many').argParser(parseLimit).default(50))
    .action(({ deadLetters, limit, ...selection }) =>
      withEvents(shell, async ({ stores }) =>
        deadLetters
          ? describeDeadLetters(await listDeadLetters(stores, selection, limit))
          : describeEvents(await listEvents(stores, selection, limit)),
      ),
    );
  events
    .command('show')
    .description('one event with its deliveries, attempts and dead letters')
    .argument('<event_id>', 'see events list', parseUuid)
    .action((id) => withEvents(shell, async ({ stores }) => describeEvent(await showEvent(stores, id))));
  addReplay(events, shell);
  addSettling(events, shell);
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
    .addOption(sinceOption(shell))
    .addOption(untilOption(shell))
    .addOption(
      new Option('--missing', 'only events that --subscriber never received because it was added later').conflicts(
        'deadLetters',
      ),
    )
    .option('--dry-run', 'print the number of events and send nothing')
    .option('--yes', 'do not ask')
    .action((ids, options) => withEvents(shell, (context) => replayEvents(context, ids ?? [], options, shell)));
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
    .action((eventId, { subscriber, yes }) =>
      withEvents(shell, async (context) => {
        const json = await shell.carryOut(planDiscard(context, { eventId, subscriber }), { yes });
        return { json, text: 'Discarded.' };
      }),
    );
  events
    .command('subscribers')
    .description(
      'list the subscribers: whether the workers have them, whether they are suspended, how many dead letters they have',
    )
    .action(() => withEvents(shell, async ({ stores }) => describeSubscribers(await listSubscribers(stores))));
  const add = (
    name: string,
    description: string,
    run: (context: EventContext, subscriber: string) => Promise<Outcome>,
  ) =>
    events
      .command(name)
      .description(description)
      .argument('<subscriber>', 'name of the subscriber', parseSubscriber)
      .action((subscriber) => withEvents(shell, (context) => run(context, subscriber)));
  add('park', "suspend a subscriber's deliveries; nothing is dropped", async (context, name) => {
    const json = await (await planSuspension(context, name)).run();
    return change(json, json.parked, `${name} is suspended.`, `${name} was suspended already.`);
  });
  add('resume', "resume a suspended subscriber's deliveries", async (context, name) => {
    const json = await planResumption(context, name).run();
    return change(json, json.resumed, `${name} is resumed.`, `${name} was not suspended.`);
  });
  const retry = 'try the events that wait for a subscriber now, evenly, instead of at the end of their pauses';
  add('retry', retry, async (context, name) => {
    const { run } = await planRetry(context, name);
    return { json: await run(), text: `The workers try what waits for ${name}.` };
  });
}

const change = (json: unknown, isNew: boolean, text: string, otherwise: string): Outcome =>
  isNew ? { json, text } : { json, text: otherwise, exitCode: exitCodes.negative };
