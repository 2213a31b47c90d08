// Refuses what a Node process sends to other machines, and notes it in $OFFLINE_LOG; NODE_OPTIONS="--require offline.cjs".
const fs = require("node:fs");
const net = require("node:net");

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...given) {
  const [options] = Array.isArray(given[0]) ? given[0] : given;
  const host = typeof options === "object" ? (options.path ? "localhost" : options.host ?? "localhost") : given[1] ?? "localhost";
  if (process.env.OFFLINE_LOG && typeof host === "string" && !/^(localhost|127\.|::1$)/.test(host)) {
    fs.appendFileSync(process.env.OFFLINE_LOG, `${host}\n`);
    throw new Error(`the test has no network: ${host}`);
  }
  return connect.apply(this, given);
};
