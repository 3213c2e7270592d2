// Lock clients from npm behind the line protocol of bench/README.md: modes times, share and serve, and `check`, which only
// loads the client. One ioredis client per node, and the settings that the packages come with, but for the attempts where a
// lock is waited for: those go on until it is had.
'use strict';

const fs = require('node:fs');
const readline = require('node:readline');

const options = { mode: 'times', peer: 'redlock4', ports: '', workers: 1, warm: 50, ttl: 10000, prefix: 'k' };
for (let at = 2; at + 1 < process.argv.length; at += 2) {
  const name = process.argv[at].slice(2);
  if (!(name in options)) fail(`--${name}: unknown`);
  options[name] = typeof options[name] === 'number' ? Number(process.argv[at + 1]) : process.argv[at + 1];
}
const waits = options.mode === 'share' || options.mode === 'serve';

function fail(why) {
  process.stderr.write(`npm driver: ${why}\n`);
  process.exit(64);
}

// At once and whole, also when standard output is a pipe.
const say = (line) => fs.writeSync(1, line + '\n');
const now = () => Number(process.hrtime.bigint()) / 1e3;

const nodes = () => options.ports.split(',').map((port) => {
  const Redis = require('ioredis');
  const client = new Redis(Number(port), '127.0.0.1');
  client.on('error', () => {}); // it connects again by itself
  return client;
});

// name -> {acquire(key) -> lock, release(lock)}
const makers = {
  redlock4() {
    const Redlock = require('redlock4');
    const redlock = new Redlock(nodes(), waits ? { retryCount: -1 } : {});
    redlock.on('clientError', () => {});
    return { acquire: (key) => redlock.lock(key, options.ttl), release: (lock) => lock.unlock() };
  },
  redlock5() {
    const { default: Redlock } = require('redlock5');
    const redlock = new Redlock(nodes(), waits ? { retryCount: -1 } : {});
    redlock.on('error', () => {});
    return { acquire: (key) => redlock.acquire([key], options.ttl), release: (lock) => lock.release() };
  },
  universal() {
    const { IoredisAdapter, createRedlock } = require('redlock-universal');
    const adapters = nodes().map((client) => new IoredisAdapter(client));
    const locks = new Map();
    const lockOf = (key) => {
      if (!locks.has(key)) {
        locks.set(key, createRedlock({ adapters, key, ttl: options.ttl, ...(waits ? { retryAttempts: 1000 } : {}) }));
      }
      return locks.get(key);
    };
    return {
      acquire: async (key) => ({ of: lockOf(key), handle: await lockOf(key).acquire() }),
      release: (lock) => lock.of.release(lock.handle),
    };
  },
};
const packages = { redlock4: 'redlock4', redlock5: 'redlock5', universal: 'redlock-universal' };
if (!(options.peer in makers)) fail(`--peer: unknown: ${options.peer}`);

// Every worker until `more` says no; the times of all of them.
async function crowd(client, more) {
  const found = { ops: 0, failed: 0, errors: 0, overlaps: 0, acquire_us: [], release_us: [] };
  let inside = 0;
  const began = now();
  const cpu = process.cpuUsage();
  await Promise.all([...Array(options.workers).keys()].map(async (worker) => {
    const key = options.mode === 'share' ? options.prefix : options.prefix + worker;
    for (let i = 0; more(i, now() - began); ++i) {
      const start = now();
      let lock;
      try {
        lock = await client.acquire(key);
      } catch {
        ++found.failed;
        continue;
      }
      found.acquire_us.push(now() - start);
      if (options.mode === 'share' && ++inside !== 1) ++found.overlaps;
      if (options.mode === 'share') --inside;
      const releasing = now();
      try {
        await client.release(lock);
      } catch {
        ++found.errors;
      }
      found.release_us.push(now() - releasing);
      ++found.ops;
    }
  }));
  const used = process.cpuUsage(cpu);
  return { ...found, wall_us: now() - began, cpu_us: used.user + used.system };
}

async function serve(client, lines) {
  let held;
  for await (const line of lines) {
    const began = now();
    let ok = 1;
    try {
      if (line === 'A') held = await client.acquire(options.prefix);
      else await client.release(held);
    } catch {
      ok = 0;
    }
    say(`${line} ${ok} ${Math.round(began * 1e3)} ${Math.round(now() * 1e3)}`);
  }
}

async function main() {
  if (options.mode === 'check') {
    require(packages[options.peer]);
    return process.exit(0);
  }
  const client = makers[options.peer]();
  const warm = options.prefix + 'warm' + process.pid;
  for (let i = 0; i < options.warm; ++i) await client.release(await client.acquire(warm));
  const lines = readline.createInterface({ input: process.stdin });
  lines.on('close', () => process.exit(0));
  say('READY');
  if (options.mode === 'serve') return serve(client, lines);
  for await (const line of lines) {
    const number = Number(line);
    const more = options.mode === 'share' ? (_, us) => us < number * 1e3 : (i) => i < number;
    const found = await crowd(client, more);
    const short = (values) => values.map((value) => Math.round(value * 10) / 10);
    say(JSON.stringify({ ...found, acquire_us: short(found.acquire_us), release_us: short(found.release_us) }));
  }
}

main().catch((error) => fail(error.stack));
