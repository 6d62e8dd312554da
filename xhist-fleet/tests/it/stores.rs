//! Dumps in an object store: a server that answers as much of S3's protocol as listing and reading need.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use super::support::{command, dumps, number, query, truth};

/// When each object was written.
const WRITTEN: &str = "2026-11-20T10:00:00.000Z";

/// Objects by their keys.
type Objects = Arc<BTreeMap<String, Vec<u8>>>;

/// Answers one request.
fn answer(stream: TcpStream, objects: &Objects) -> std::io::Result<()> {
    let mut lines = BufReader::new(&stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let target = request.split(' ').nth(1).unwrap_or_default().replace("%2F", "/").replace("%3D", "=");
    let (path, parameters) = target.split_once('?').unwrap_or((&target, ""));
    let (status, kind, body) = match objects.get(path.trim_start_matches("/crashes/")) {
        _ if parameters.contains("list-type=2") => {
            let prefix =
                parameters.split('&').find_map(|part| part.strip_prefix("prefix=")).unwrap_or_default();
            let rows = objects.iter().filter(|(key, _)| key.starts_with(prefix)).map(|(key, bytes)| {
                format!(
                    "<Contents><Key>{key}</Key><LastModified>{WRITTEN}</LastModified><ETag>\"1\"</ETag><Size>{}</Size>\
                     <StorageClass>STANDARD</StorageClass></Contents>",
                    bytes.len()
                )
            });
            let rows: String = rows.collect();
            let body = format!("<ListBucketResult><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>");
            ("200 OK", "application/xml", body.into_bytes())
        }
        Some(bytes) => ("200 OK", "application/octet-stream", bytes.clone()),
        None => ("404 Not Found", "application/xml", Vec::new()),
    };
    let mut stream = &stream;
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nETag: \"1\"\r\n\
         Last-Modified: Fri, 20 Nov 2026 10:00:00 GMT\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body)
}

pub fn objects_are_dumps() {
    let some = truth().into_iter().take(3);
    let objects = some.enumerate().map(|(index, dump)| {
        (format!("2026-11/device=dev-{index}/{index}.bin"), fs::read(dumps().join(&dump["path"])).unwrap())
    });
    let objects: Objects = Arc::new(objects.chain([("other/4.bin".to_owned(), Vec::new())]).collect());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let objects = Arc::clone(&objects);
            std::thread::spawn(move || answer(stream, &objects));
        }
    });
    let dir = tempfile::tempdir().unwrap();
    let data_set = dir.path().join("fleet");
    let add = |url: &str| {
        let output = command(["add".as_ref(), data_set.as_os_str(), url.as_ref(), "--maps".as_ref()])
            .arg(dumps().join("maps"))
            .envs([("AWS_ENDPOINT", endpoint.as_str()), ("AWS_ALLOW_HTTP", "true"), ("AWS_REGION", "eu-1")])
            .envs([("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", "secret")])
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), err)
    };
    let (code, err) = add("s3://crashes/2026-11");
    assert_eq!(code, Some(0), "{err}");
    let rows =
        query(&data_set, "SELECT source, device, CAST(day AS VARCHAR) AS day FROM rings ORDER BY source");
    let first = "s3://crashes/2026-11/device=dev-0/0.bin";
    assert_eq!(
        (&rows[0]["source"], &rows[0]["device"], &rows[0]["day"]),
        (&first.into(), &"dev-0".into(), &"2026-11-20".into())
    );
    assert_eq!((rows.len(), number(&data_set, "SELECT COUNT(DISTINCT device) FROM rings")), (3, 3));
    // One object, which is there already; and one that is not in the store.
    assert_eq!(add(first).0, Some(0));
    let (code, err) = add("s3://crashes/nothing");
    assert_eq!(code, Some(1));
    assert!(err.contains("cannot read s3://crashes/nothing"), "{err}");
}
