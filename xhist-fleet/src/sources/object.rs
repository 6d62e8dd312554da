//! Objects in stores: Amazon S3, Google Cloud Storage, Azure, and what speaks their protocols. Settings come from the
//! environment, as the tools of each store read it.

use std::io::Write;
use std::sync::Arc;
use std::time::SystemTime;

use datafusion::common::HashMap;
use futures::TryStreamExt;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt, aws, azure, gcp};
use tokio::runtime::Runtime;

use crate::error::FleetError;

/// A kind of store.
struct StoreRow {
    /// How its URLs start.
    scheme: &'static str,
    /// Opens the bucket of a URL.
    open: fn(&str) -> object_store::Result<Arc<dyn ObjectStore>>,
}

const STORES: [StoreRow; 3] = [
    StoreRow {
        scheme: "s3://",
        open: |url| Ok(Arc::new(aws::AmazonS3Builder::from_env().with_url(url).build()?)),
    },
    StoreRow {
        scheme: "gs://",
        open: |url| Ok(Arc::new(gcp::GoogleCloudStorageBuilder::from_env().with_url(url).build()?)),
    },
    StoreRow {
        scheme: "az://",
        open: |url| Ok(Arc::new(azure::MicrosoftAzureBuilder::from_env().with_url(url).build()?)),
    },
];

/// An object that may be a dump.
#[derive(Clone, Debug)]
pub struct StoredObject {
    /// Its URL.
    pub url: String,
    /// When it was last written.
    pub written: SystemTime,
    store: Arc<dyn ObjectStore>,
    path: ObjectPath,
    runtime: Arc<Runtime>,
}

/// The stores in use, by bucket.
pub struct ObjectStores {
    runtime: Arc<Runtime>,
    open: HashMap<String, Arc<dyn ObjectStore>>,
}

impl ObjectStores {
    /// Without a store.
    pub fn new() -> Result<ObjectStores, FleetError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        Ok(ObjectStores { runtime: Arc::new(runtime.map_err(FleetError::System)?), open: HashMap::new() })
    }

    /// Whether a name is that of an object.
    pub fn is_url(name: &str) -> bool {
        STORES.iter().any(|row| name.starts_with(row.scheme))
    }

    /// The objects below a URL, or the one that it names.
    pub fn list(&mut self, url: &str) -> Result<Vec<StoredObject>, FleetError> {
        let at = |error| FleetError::Store(url.to_owned(), error);
        let (bucket, path) = split(url);
        let store = match self.open.get(&bucket) {
            Some(store) => Arc::clone(store),
            None => {
                let row = STORES.iter().find(|row| url.starts_with(row.scheme));
                let row = row.ok_or_else(|| FleetError::Usage(format!("{url} names no store")))?;
                let store = (row.open)(&bucket).map_err(at)?;
                self.open.insert(bucket.clone(), Arc::clone(&store));
                store
            }
        };
        let path = ObjectPath::parse(path).map_err(|error| at(error.into()))?;
        let listed = self.runtime.block_on(async {
            let below: Vec<_> = store.list(Some(&path)).try_collect().await?;
            // A store lists what is below a path, and not the object at the path itself.
            if below.is_empty() { Ok(vec![store.head(&path).await?]) } else { Ok(below) }
        });
        let mut objects = listed.map_err(at)?;
        objects.sort_by(|one, other| one.location.cmp(&other.location));
        let object = |meta: object_store::ObjectMeta| StoredObject {
            url: format!("{bucket}/{}", meta.location),
            written: meta.last_modified.into(),
            store: Arc::clone(&store),
            path: meta.location,
            runtime: Arc::clone(&self.runtime),
        };
        Ok(objects.into_iter().map(object).collect())
    }
}

impl StoredObject {
    /// Copies the object to a file, which is removed when it is dropped.
    pub fn download(&self) -> Result<tempfile::NamedTempFile, FleetError> {
        let at = |error| FleetError::Store(self.url.clone(), error);
        let mut file = tempfile::NamedTempFile::new().map_err(FleetError::System)?;
        self.runtime.block_on(async {
            let mut pieces = self.store.get(&self.path).await.map_err(at)?.into_stream();
            while let Some(piece) = pieces.try_next().await.map_err(at)? {
                file.write_all(&piece).map_err(FleetError::System)?;
            }
            file.flush().map_err(FleetError::System)
        })?;
        Ok(file)
    }
}

/// Bucket and path of a URL.
fn split(url: &str) -> (String, &str) {
    let behind = url.find("://").map_or(0, |at| at + 3);
    match url[behind..].find('/') {
        Some(at) => (url[..behind + at].to_owned(), url[behind + at..].trim_matches('/')),
        None => (url.to_owned(), ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_bucket_and_a_path() {
        assert_eq!(split("s3://dumps/a/b.xhist"), ("s3://dumps".to_owned(), "a/b.xhist"));
        assert_eq!(split("gs://dumps"), ("gs://dumps".to_owned(), ""));
        assert!(ObjectStores::is_url("az://c/x") && !ObjectStores::is_url("/tmp/s3"));
    }
}
