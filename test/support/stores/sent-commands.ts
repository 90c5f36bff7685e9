import { type CommandStartedEvent, type Document, MongoClient } from 'mongodb';

/** A command that a service has sent to MongoDB. */
export interface SentCommand {
  /** Name by which the client introduced itself: `auth-api`. */
  readonly by: string;
  /** `find`, `update`, `commitTransaction` … */
  readonly name: string;
  readonly database: string;
  readonly command: Document;
}

/** Returns the URL with which a service's client reports its commands. */
export function monitored(mongodbUri: string): string {
  const uri = new URL(mongodbUri);
  uri.searchParams.set('monitorCommands', 'true');
  return String(uri);
}

/**
 * Watches each client that a service of this process connects from now on with a URL of {@link monitored}. The
 * services open their clients themselves and hand them to nobody, so the watch hooks into `connect`.
 */
export function watchSentCommands() {
  const all: SentCommand[] = [];
  const watched = new WeakSet<MongoClient>();
  const keep = (by: string, { command, commandName: name, databaseName: database }: CommandStartedEvent) => {
    // In the background, services ask for the time by `hello`.
    if (name !== 'hello') all.push({ by, name, database, command });
  };
  const { connect } = MongoClient.prototype;
  MongoClient.prototype.connect = function (this: MongoClient) {
    // Services introduce themselves by a name; a test's own client has none.
    const by = this.options.driverInfo?.name;
    if (by !== undefined && !watched.has(this)) {
      watched.add(this);
      this.on('commandStarted', (event) => keep(by, event));
    }
    return connect.call(this);
  };
  return {
    /** All commands so far. */
    all: all as readonly SentCommand[],
    /** Runs the work, and returns the commands that were sent during it. */
    async during(work: () => Promise<unknown>): Promise<SentCommand[]> {
      const before = all.length;
      await work();
      // In the background, services look once a minute at the generations of the data.
      return all.slice(before).filter(({ name, command }) => command[name] !== 'upgrades');
    },
    /** Stops watching clients that connect later. */
    close() {
      MongoClient.prototype.connect = connect;
    },
  };
}
