"""Everything that --json prints is what docs/redlock.schema.json says, for every command, success and error."""

import copy
import json
import os
import subprocess

import jsonschema

from support import LIMIT, PATIENT, Cluster, ProgramTest, eventually, free_port, main

STRANGER = "0" * 31 + "1"
DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs")


def strict(schema):
    """The schema tells readers to expect more; the program may not print more than it documents."""
    if isinstance(schema, dict):
        for value in schema.values():
            strict(value)
        if "properties" in schema:
            schema["additionalProperties"] = False
    elif isinstance(schema, list):
        for value in schema:
            strict(value)
    return schema


class Schema(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open(os.path.join(DOCS, "redlock.schema.json"), encoding="utf-8") as file:
            cls.schema = strict(json.load(file))
        jsonschema.Draft202012Validator.check_schema(cls.schema)
        cls.validator = jsonschema.Draft202012Validator(cls.schema)

    def part(self, name):
        return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": self.schema["$defs"]})

    def holds(self, name, result, code):
        """One line that is the schema's part of that name; the value is what it says."""
        self.expect(result, code)
        self.assertEqual(result.stdout.count("\n"), 1, result.stdout)
        value = json.loads(result.stdout)
        self.part(name).validate(value)
        self.validator.validate(value)  # and of no other part
        return value

    def call(self, name, code, *words, **options):
        return self.holds(name, self.redlock("--json", *words, **options), code)

    def test_results(self):
        taken = self.call("lease", 0, "acquire", self.name)
        token = taken["token"]
        self.call("lease", 0, "extend", self.name, token)
        self.assertIsInstance(self.call("lease", 0, "acquire", "--fence", "fenced")["fencing_token"], int)
        self.call("inspection", 0, "inspect", self.name, "free")
        self.call("release", 0, "release", self.name, token)
        self.call("release", 1, "release", self.name, token)
        self.call("break", 1, "break", "--yes", self.name)
        self.take(self.name)
        self.call("break", 0, "break", "--yes", "--now", self.name)
        self.assertTrue(self.call("status", 0, "status")["ready"])
        self.call("config", 0, "config")
        self.call("config", 0, "config", env=self.env(REDLOCK_PASSWORD="x", REDLOCK_CONFIG="/dev/null"))

    def test_the_nodes(self):
        """Of a cluster of its own: marks and settling are for all of a cluster's clients."""
        cluster = Cluster(3)
        self.addCleanup(cluster.close)
        dead = f"redis://127.0.0.1:{free_port()}"
        env = self.env(REDLOCK_NODES=cluster.urls())
        short = self.env(REDLOCK_NODES=",".join([node.url() for node in cluster.nodes[:2]] + [dead]))
        secret = self.env(REDLOCK_NODES=cluster.urls("nobody:wrong@"))
        self.assertEqual(self.call("status", 69, "status", env=env)["nodes"][0]["state"], "unmarked")
        found = self.call("doctor", 1, "doctor", env=env)["findings"]
        self.assertIn("guard-unmarked", [finding["id"] for finding in found])
        self.assertFalse(self.call("init", 69, "init", env=short)["written"])
        self.call("init", 77, "init", env=secret)
        self.call("status", 77, "status", env=secret)
        self.call("doctor", 2, "doctor", env=secret)
        self.assertTrue(self.call("init", 0, "init", env=env)["done"])
        self.call("init", 65, "init", env=env)
        self.call("init", 0, "init", "--force-node", cluster.nodes[0].url(), "--yes", env=env)
        self.call("status", 0, "status", env=env)
        self.call("status", 0, "--no-guard", "status", env=env)
        self.call("status", 0, "status", env=short)
        self.assertIsNone(self.call("status", 69, "--deployment", "another", "status", env=env)["ready_in_ms"])
        self.call("error", 64, "--deployment", "another", *PATIENT, "acquire", "--try", "n", env=env)
        made = self.call("init", 0, "--deployment", "another", "init", "--reconfigure", env=env)
        self.assertGreater(made["nodes"][0]["settling_ms"], 0)
        self.assertGreater(self.call("status", 69, "--deployment", "another", "status", env=env)["ready_in_ms"], 0)
        self.assertEqual(self.call("error", 69, "--deployment", "another", *PATIENT, "acquire", "--try", "n", env=env)["error"]["code"],
                         "settling")
        for words in (["init", "--no-guard"], ["init", "--force"], ["init", "--reconfigure", "--force", "--yes"],
                      ["status", "--watch=1ms"], ["--guard-grace", "x", "status"]):
            with self.subTest(words=words):
                self.call("error", 64, *words, env=env)

    def test_a_watch_prints_a_line_each_time(self):
        watch = self.start("--json", "status", "--watch=100ms")
        for _ in range(3):
            self.part("status").validate(json.loads(watch.stdout.readline()))

    def test_faults(self):
        key = "lock:" + self.name
        self.cluster.nodes[0].command("SET", key, "x")
        self.cluster.nodes[1].command("RPUSH", key, "x")
        self.cluster.nodes[2].command("SET", key, b"\xff\n", "PX", 100000)
        self.cluster.nodes[3].command("SET", key, "y", "PX", 100000)
        lock = self.call("inspection", 65, "inspect", self.name)["locks"][0]
        self.assertEqual(lock["verdict"], "split")
        self.call("break", 0, "break", "--yes", "--now", self.name)

    def test_nodes_that_are_down_or_refuse(self):
        urls = [node.url() for node in self.cluster.nodes]
        dead = [f"redis://127.0.0.1:{free_port()}" for _ in range(3)]
        some, few = (self.env(REDLOCK_NODES=",".join(urls[:n] + dead[:5 - n])) for n in (3, 2))
        self.take(self.name)
        self.call("inspection", 69, "inspect", self.name, env=few)
        self.call("break", 0, "break", "--yes", "--now", self.name, env=some)
        for words in ([*PATIENT, "acquire", "--try", "x"], ["extend", "x", STRANGER], ["release", "x", STRANGER],
                      ["break", "--yes", "x"], [*PATIENT, "run", "--try", "x", "--", "true"]):
            with self.subTest(words=words):
                self.call("error", 69, *words, env=few)
                secret = self.env(REDLOCK_NODES=",".join(node.url("nobody:wrong@") for node in self.cluster.nodes))
                self.call("error", 77, *words, env=secret)
        self.call("inspection", 77, "inspect", "x", env=secret)

    def test_errors(self):
        token = self.take(self.name)
        self.call("error", 75, *PATIENT, "acquire", "--try", self.name)
        self.call("error", 75, "acquire", "--wait", "3s", self.name)
        self.call("error", 75, *PATIENT, "run", "--try", self.name, "--", "true")
        self.call("error", 76, "extend", self.name, STRANGER)
        self.call("error", 127, "run", "x", "--", "/no/such/command")
        self.call("error", 126, "run", "x", "--", "/")
        breaker = self.start("--json", "break", "--yes", self.name)
        eventually(lambda: token not in self.cluster.owners(self.name), "taken over")
        breaker.terminate()
        out, err = breaker.communicate(timeout=LIMIT)
        self.holds("error", subprocess.CompletedProcess([], breaker.returncode, out, err), 143)

    def test_every_command_tells_its_mistakes(self):
        for words in ([], ["frob"], ["run", "n"], ["acquire"], ["extend", "n"], ["release", "n", "x"], ["inspect"],
                      ["break", "n"], ["config", "x"], ["completion", "csh"], ["status", "x"], ["doctor", "x"], ["init", "x"], ["--config", "/nowhere", "inspect", "n"],
                      ["--nodes", "x", "inspect", "n"], ["acquire", "--ttl", "1", "n"]):
            with self.subTest(words=words):
                self.call("error", 64, *words)

    def test_the_schema_can_refuse(self):
        taken = self.call("lease", 0, "acquire", self.name)

        def changed(path, value):
            copied = copy.deepcopy(taken)
            place = copied
            for step in path[:-1]:
                place = place[step]
            if value is None:
                del place[path[-1]]
            else:
                place[path[-1]] = value
            return copied
        for wrong in ({}, [], changed(["token"], "x"), changed(["name"], None), changed(["validity_ms"], 1.5),
                      changed(["nodes", 0, "vote"], "maybe"), changed(["nodes", 0, "ms"], "1"), changed(["more"], 1),
                      changed(["nodes", 0, "error"], None)):
            with self.subTest(wrong=wrong):
                self.assertFalse(self.validator.is_valid(wrong))

    def test_the_page_names_every_field(self):
        with open(os.path.join(DOCS, "json.md"), encoding="utf-8") as file:
            page = file.read()
        names = set()

        def walk(schema):
            if isinstance(schema, dict):
                names.update(schema.get("properties", {}))
                for value in schema.values():
                    walk(value)
            elif isinstance(schema, list):
                for value in schema:
                    walk(value)
        walk(self.schema)
        for name in names:
            self.assertIn(f'"{name}"', page)


if __name__ == "__main__":
    main()
